"""Deadline and cancellation of a run."""

import asyncio

import pytest

from harness.context import Cancellation
from harness.errors import RunStoppedError, StopReason
from tests.harness.runs import run_context


async def test_stopping_cancels_the_root_task_and_all_below_it() -> None:
    ended: list[str] = []
    cancellation = Cancellation()

    async def child() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("child")

    async def root() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())

    task = asyncio.create_task(root())
    cancellation.bind(task)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert cancellation.stop(StopReason.CLIENT_GONE)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["child"]


async def test_the_first_reason_wins() -> None:
    cancellation = Cancellation()
    assert cancellation.stop(StopReason.DEADLINE)
    assert not cancellation.stop(StopReason.CANCELLED)
    assert cancellation.reason is StopReason.DEADLINE


async def test_a_run_stopped_before_it_began_never_runs() -> None:
    cancellation = Cancellation()
    cancellation.stop(StopReason.SHUTTING_DOWN)
    task = asyncio.create_task(asyncio.sleep(60))
    cancellation.bind(task)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_stopped_or_late_run_may_start_nothing() -> None:
    ctx, _ = run_context(seconds=0)
    with pytest.raises(RunStoppedError) as late:
        ctx.check()
    assert late.value.reason is StopReason.DEADLINE
    ctx, _ = run_context()
    ctx.cancellation.stop(StopReason.CANCELLED)
    with pytest.raises(RunStoppedError) as stopped:
        ctx.check()
    assert stopped.value.reason is StopReason.CANCELLED
