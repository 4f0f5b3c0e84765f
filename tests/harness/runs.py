"""A run's context for tests of the harness, with a recorder that keeps what it is given."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid4

from harness.budget import Budget
from harness.config import BudgetSettings
from harness.context import Deadline, RunContext
from harness.progress import StatusUpdate
from harness.recorder import StepRecord, ToolRecord, TraceDetails


@dataclass
class KeptRecords:
    """Implements `harness.recorder.Recorder` in memory; the real one has tests of its own."""

    events: list[TraceDetails] = field(default_factory=list)
    steps: list[StepRecord] = field(default_factory=list)
    tools: list[ToolRecord] = field(default_factory=list)

    def event(self, details: TraceDetails, at: datetime | None = None) -> None:
        self.events.append(details)

    def step(self, record: StepRecord) -> None:
        self.steps.append(record)

    def tool(self, record: ToolRecord) -> None:
        self.tools.append(record)

    async def checkpoint(self) -> None:
        return

    def types(self) -> Sequence[str]:
        return [event.event_type for event in self.events]


@dataclass
class KeptStatuses:
    """Implements `harness.progress.Progress`."""

    updates: list[StatusUpdate] = field(default_factory=list)

    def __call__(self, update: StatusUpdate) -> None:
        self.updates.append(update)

    def codes(self) -> list[str]:
        return [update.code.value for update in self.updates]


def run_context(
    budget: BudgetSettings | None = None, seconds: float = 170, run_id: UUID | None = None
) -> tuple[RunContext, KeptRecords]:
    records = KeptRecords()
    ctx = RunContext(uuid4(), run_id or uuid4(), Deadline.after(seconds), Budget(budget or BudgetSettings()), records)
    return ctx, records
