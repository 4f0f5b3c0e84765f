"""The steps and tool calls of a run on one time axis, as positions in an SVG."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from audit.models import AgentStep, DiagnosisRun, ToolInvocation

WIDTH = 1000
LABELS = 270  # where the time axis begins
ROW = 24
TOP = 26
SHORTEST = 3  # a bar of no time must still be seen
TICKS = 5


@dataclass(frozen=True, slots=True)
class Bar:
    """One step or tool call. Lengths in SVG units; `state` is `ok` or `bad`, `kind` `model` or `tool`."""

    label: str
    kind: str
    state: str
    outcome: str
    start_ms: int
    duration_ms: int
    x: float
    y: int
    width: float

    @property
    def text_y(self) -> int:
        return self.y + 14

    @property
    def after_x(self) -> float:
        """Where the duration is written: after the bar, or before it where no room is left."""
        return self.x + self.width + 6 if self.x + self.width < WIDTH - 70 else self.x - 6

    @property
    def anchor(self) -> str:
        return "start" if self.after_x > self.x else "end"


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    seconds: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    width: int
    height: int
    top: int


def waterfall(run: DiagnosisRun, steps: Iterable[AgentStep], calls: Iterable[ToolInvocation]) -> Waterfall:
    """Lay out a run. The axis goes from its start to its end, or to the last bar while it runs."""
    rows: list[tuple[datetime, int, str, str, bool, str]] = []
    for step in steps:
        begun = step.created_at - timedelta(milliseconds=step.duration_ms)
        label = f"{step.step_index} {step.purpose}" + (f" #{step.attempt}" if step.attempt > 1 else "")
        rows.append((begun, step.duration_ms, label, "model", step.outcome == "OK", step.outcome))
    for call in calls:
        good = call.status == "READY"
        outcome = call.evidence_status if good else call.error_code or call.status
        rows.append((call.started_at, call.duration_ms, call.tool_name, "tool", good, outcome))
    rows.sort(key=lambda row: row[0])

    offsets = [max(0, round((row[0] - run.started_at).total_seconds() * 1000)) for row in rows]
    total = max([run.duration_ms or 0, 1, *(offset + row[1] for offset, row in zip(offsets, rows, strict=True))])
    scale = (WIDTH - LABELS - 10) / total
    bars = [
        Bar(
            label=label, kind=kind, state="ok" if good else "bad", outcome=outcome, start_ms=offset,
            duration_ms=duration, x=round(LABELS + offset * scale, 1), y=TOP + number * ROW,
            width=round(max(SHORTEST, duration * scale), 1),
        )
        for number, (offset, (_, duration, label, kind, good, outcome)) in enumerate(zip(offsets, rows, strict=True))
    ]  # fmt: skip
    ticks = [
        Tick(round(LABELS + total * part / TICKS * scale, 1), f"{total * part / TICKS / 1000:.1f}")
        for part in range(TICKS + 1)
    ]
    return Waterfall(bars, ticks, WIDTH, TOP + len(bars) * ROW + 6, TOP)
