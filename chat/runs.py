"""The running runs of this process: how many, which, and how they end together on shutdown.

All of it happens on one event loop, so nothing here needs a lock.
"""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from audit.recorder import RunRecorder
from chat.stream import RunStream
from diagnosis.intents import Intent
from harness.context import RunContext
from harness.errors import StopReason
from harness.tools.base import JsonObject

STOP_SECONDS = 10.0  # for tool calls that clean up after themselves, and for the last commit
DELIVERY_SECONDS = 2.0


@dataclass(slots=True)
class RunningRun:
    """One run from its acceptance to its final state. `query` is what was asked, trimmed and nothing else."""

    ctx: RunContext
    recorder: RunRecorder
    user_id: int
    query: str
    language: str
    last_intent: str | None
    last_user_query: str | None
    previous_turn: JsonObject | None
    stream: RunStream
    started: float
    """Monotonic time of acceptance, seconds."""
    intent: Intent | None = None  # None until routed
    decided: bool = field(default=False, init=False)
    """Set once the final state is chosen: from then on nothing stops the run."""

    @property
    def run_id(self) -> UUID:
        return self.ctx.run_id

    def stop(self, reason: StopReason) -> bool:
        """Stop the run; the first reason counts. False if its end was decided before."""
        if self.decided:
            return False
        self.ctx.cancellation.stop(reason)
        return True

    def reader_gone(self) -> None:
        """Nobody reads the stream any more."""
        self.stream.hang_up()
        self.stop(StopReason.CLIENT_GONE)


class ProcessFullError(Exception):
    """No place is left in this process, or it is about to end."""


class RunRegistry:
    """Places for `limit` runs. A place is reserved first, then taken by a run, then freed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._places = 0
        self._runs: dict[UUID, RunningRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False
        self.draining = False

    def __len__(self) -> int:
        return len(self._runs)

    def reserve(self) -> None:
        """Take a place. Raises `ProcessFullError`."""
        if self.draining or self._places >= self._limit:
            raise ProcessFullError
        self._places += 1
        self._idle.clear()

    def free(self) -> None:
        """Give a place back."""
        self._places -= 1
        if self._places == 0:
            self._idle.set()

    def get(self, run_id: UUID) -> RunningRun | None:
        return self._runs.get(run_id)

    def add(self, run: RunningRun, task: asyncio.Task[None]) -> None:
        """Put a run on the place that was reserved for it. It leaves when `task` ends, whatever happens."""
        self._runs[run.run_id] = run
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._remove(run.run_id, task))
        if self._stopping:
            run.stop(StopReason.SHUTTING_DOWN)

    async def drain(self, seconds: float) -> None:
        """Accept nothing more, wait `seconds` for the running runs, then stop the rest and see them end."""
        self.draining = True
        streams = {run.stream for run in self._runs.values()}
        if not await _within(seconds, self._idle):
            self._stopping = True
            streams.update(run.stream for run in self._runs.values())
            for run in list(self._runs.values()):
                run.stop(StopReason.SHUTTING_DOWN)
            await _within(STOP_SECONDS, self._idle)
        for stream in streams:
            await _within(DELIVERY_SECONDS, stream.delivered)

    def _remove(self, run_id: UUID, task: asyncio.Task[None]) -> None:
        del self._runs[run_id]
        self._tasks.discard(task)
        self.free()


async def _within(seconds: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
