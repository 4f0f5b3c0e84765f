"""RunContext: what each boundary gets passed, explicitly, for the whole of one run."""

import asyncio
import time
from dataclasses import dataclass, field
from uuid import UUID

from harness.budget import Budget
from harness.errors import RunStoppedError, StopReason
from harness.recorder import Recorder
from harness.retry import HarnessRetryPolicies


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the monotonic clock, in seconds."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - time.monotonic())


class Cancellation:
    """Stops one run: remembers the first reason and cancels the run's root task.

    The first `stop` wins; later ones change nothing. All work of a run happens in tasks below the root
    task, so cancelling it ends every model call, tool call and query of the run.
    """

    def __init__(self) -> None:
        self._reason: StopReason | None = None
        self._task: asyncio.Task[object] | None = None

    @property
    def reason(self) -> StopReason | None:
        return self._reason

    def bind(self, task: asyncio.Task[object]) -> None:
        """Name the root task. A run that was stopped before it began is cancelled at once."""
        self._task = task
        if self._reason is not None:
            task.cancel()

    def stop(self, reason: StopReason) -> bool:
        """Stop the run. True if this call was the first."""
        if self._reason is not None:
            return False
        self._reason = reason
        if self._task is not None:
            self._task.cancel()
        return True


@dataclass(frozen=True, slots=True)
class RunContext:
    """Immutable; passed as a parameter, never kept in a thread-local or context variable.

    Source: 02-harness, "RunContext".
    """

    session_id: UUID
    run_id: UUID
    deadline: Deadline
    budget: Budget
    recorder: Recorder
    retry_policies: HarnessRetryPolicies = field(default_factory=HarnessRetryPolicies)
    cancellation: Cancellation = field(default_factory=Cancellation)

    def check(self) -> None:
        """Raise `RunStoppedError` if the run may do nothing more."""
        if self.cancellation.reason is not None:
            raise RunStoppedError(self.cancellation.reason)
        if self.deadline.remaining() <= 0:
            raise RunStoppedError(StopReason.DEADLINE)
