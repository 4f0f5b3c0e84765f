"""Figures over the last days: outcomes, fallbacks, durations, tokens, tool errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate

from audit.models import DiagnosisRun, RunStatus, ToolInvocation
from audit.percentiles import Percentile

DAYS = (7, 30, 90)
STATES = (RunStatus.SUCCEEDED, RunStatus.FALLBACK, RunStatus.FAILED, RunStatus.CANCELLED)
CHART_HEIGHT = 160
CHART_WIDTH = 960
LABEL_WIDTH = 45


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a day's column in the chart, in SVG units."""

    state: str
    count: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    total: int
    counts: Sequence[tuple[str, int]]
    parts: Sequence[Part]
    x: float
    width: float
    labelled: bool
    """Whether the chart has room for the date."""
    p50_ms: int | None
    p95_ms: int | None
    tokens: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total`, for a name; `label` is the name for people."""

    name: str
    count: int
    total: int
    label: str = ""

    @property
    def percent(self) -> float:
        return round(100 * self.count / self.total, 1) if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Dashboard:
    days: Sequence[Day]
    total: int
    running: int
    states: Sequence[Share]
    fallbacks: Sequence[Share]
    tools: Sequence[Share]
    p50_ms: int | None
    p95_ms: int | None
    tokens: int
    cost_usd: Decimal


def dashboard(now: datetime, days: int) -> Dashboard:
    """The last `days` days up to `now`, by day of the current time zone. Five queries over the index of time."""
    since = now - timedelta(days=days)
    runs = DiagnosisRun.objects.filter(started_at__gte=since)
    ended = runs.exclude(status=RunStatus.RUNNING)
    figures = {
        **{state.value: Count("pk", filter=Q(status=state)) for state in STATES},
        "p50": Percentile("duration_ms", 0.5),
        "p95": Percentile("duration_ms", 0.95),
        "tokens": Sum("total_tokens", default=0),
        "cost": Sum("cost_usd", default=Decimal(0)),
    }
    days_of_runs = ended.annotate(day=TruncDate("started_at")).values("day")
    by_day: list[Any] = list(days_of_runs.annotate(**figures).order_by("day"))
    whole = ended.aggregate(**figures)
    total = sum(whole[state.value] for state in STATES)
    diagnoses = ended.filter(fallback_type__isnull=False).values_list("fallback_type")
    fallbacks = diagnoses.annotate(count=Count("pk")).order_by("-count", "fallback_type")
    tools = (
        ToolInvocation.objects.filter(started_at__gte=since)
        .values_list("tool_name")
        .annotate(bad=Count("pk", filter=Q(status="ERROR")), all=Count("pk"))
        .order_by("-all", "tool_name")
    )
    highest = max([sum(row[state.value] for state in STATES) for row in by_day], default=1)
    return Dashboard(
        days=[_day(row, number, len(by_day), highest) for number, row in enumerate(by_day)],
        total=total,
        running=runs.filter(status=RunStatus.RUNNING).count(),
        states=[Share(state.value, whole[state.value], total, str(state.label)) for state in STATES],
        fallbacks=[Share(name, count, total) for name, count in fallbacks],
        tools=[Share(name, bad, every) for name, bad, every in tools[:20]],
        p50_ms=_whole(whole["p50"]),
        p95_ms=_whole(whole["p95"]),
        tokens=whole["tokens"],
        cost_usd=whole["cost"],
    )


def _day(row: dict[str, Any], number: int, days: int, highest: int) -> Day:
    counts = [(state.value, row[state.value]) for state in STATES]
    width = CHART_WIDTH / max(days, 7)
    parts, top = [], float(CHART_HEIGHT)
    for state, count in counts:
        height = round(count * CHART_HEIGHT / highest, 1)
        top -= height
        if count:
            parts.append(Part(state, count, round(top, 1), height))
    return Day(
        day=row["day"],
        total=sum(count for _, count in counts),
        counts=counts,
        parts=parts,
        x=round(number * width + width * 0.1, 1),
        width=round(width * 0.8, 1),
        labelled=(days - 1 - number) % max(1, -(-days * LABEL_WIDTH // CHART_WIDTH)) == 0,
        p50_ms=_whole(row["p50"]),
        p95_ms=_whole(row["p95"]),
        tokens=row["tokens"],
        cost_usd=row["cost"],
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
