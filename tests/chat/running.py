"""A running run for tests of the registry and of cancelling: everything but its work."""

import asyncio
import time
from uuid import uuid4

from audit.recorder import RunRecorder
from chat.runs import RunningRun
from chat.stream import Event, RunStream
from tests.harness.runs import run_context


def running_run(user_id: int = 1) -> RunningRun:
    ctx, _ = run_context()
    return RunningRun(
        ctx=ctx,
        recorder=RunRecorder(ctx.run_id, ctx.session_id),
        user_id=user_id,
        query="q",
        language="en",
        last_intent=None,
        last_user_query=None,
        previous_turn=None,
        stream=RunStream(Event("metadata", {"session_id": str(uuid4()), "run_id": str(ctx.run_id)})),
        started=time.monotonic(),
    )


async def until_stopped(run: RunningRun) -> None:
    """Stands in for a run's life: ends once the run is stopped."""
    work = asyncio.create_task(asyncio.sleep(3600))
    run.ctx.cancellation.bind(work)
    await asyncio.wait([work])
    run.decided = True
    run.stream.hang_up()
