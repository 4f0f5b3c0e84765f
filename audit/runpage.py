"""What the run page of the admin shows, put together from the tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from audit.models import AgentStep, DiagnosisRun, DiagnosisTraceEvent, ToolInvocation
from audit.waterfall import Waterfall, waterfall

OTHER_RUNS = 20

# What a run used, by the name of its budget in RUN_FINISHED.
_BUDGETS = ("model_calls", "tool_calls", "total_tokens", "run_seconds")
_COMPARED = (
    "user_query", "intent", "status", "fallback_type", "fallback_reason", "failure_code", "budget_exhausted_reason",
    "model", "language", "duration_ms", "model_calls", "tool_calls", "input_tokens", "output_tokens", "total_tokens",
    "cost_usd", "started_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """How much of a budget a run used."""

    name: str
    used: float
    allowed: float
    exhausted: bool


@dataclass(frozen=True, slots=True)
class RunPage:
    run: DiagnosisRun
    why: Sequence[str]
    steps: Sequence[AgentStep]
    calls: Sequence[ToolInvocation]
    timeline: Sequence[DiagnosisTraceEvent]
    verdicts: Sequence[DiagnosisTraceEvent]
    waterfall: Waterfall
    budgets: Sequence[BudgetBar]
    other_runs: Sequence[DiagnosisRun]
    feedback: Any
    """The asker's opinion: a row of a table above this layer, with `rating` and `comment`, or None."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of two runs."""

    label: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        return self.left != self.right


def run_page(run: DiagnosisRun) -> RunPage:
    """Read everything that belongs to the run, in a fixed number of queries."""
    steps = list(run.steps.order_by("step_index"))
    calls = list(run.tool_invocations.order_by("started_at", "id"))
    timeline = list(run.timeline.order_by("seq"))
    others = DiagnosisRun.objects.filter(session=run.session_id).exclude(pk=run.pk).newest_first()
    decisive = {"EVIDENCE_CHECKED", "SEMANTIC_DECIDED", "RELEASE_DECIDED"}
    return RunPage(
        run=run,
        why=_why(run, timeline),
        steps=steps,
        calls=calls,
        timeline=timeline,
        verdicts=[event for event in timeline if event.event_type in decisive],
        waterfall=waterfall(run, steps, calls),
        budgets=_budgets(run, timeline),
        other_runs=list(others[:OTHER_RUNS]),
        feedback=getattr(run, "feedback", None),
    )


def differences(left: DiagnosisRun, right: DiagnosisRun) -> list[Difference]:
    """The header figures of two runs side by side."""
    return [
        Difference(str(DiagnosisRun._meta.get_field(name).verbose_name), _text(left, name), _text(right, name))  # type: ignore[union-attr]
        for name in _COMPARED
    ]


def _text(run: DiagnosisRun, name: str) -> str:
    value = getattr(run, f"get_{name}_display")() if name in ("intent", "status") else getattr(run, name)
    if isinstance(value, datetime):
        return timezone.localtime(value).strftime("%Y-%m-%d %H:%M:%S")
    return "–" if value is None else str(value)


def _why(run: DiagnosisRun, timeline: Sequence[DiagnosisTraceEvent]) -> list[str]:
    stopped = [event.details.get("reason") for event in timeline if event.event_type == "CANCELLED"]
    reasons = [run.failure_code, run.fallback_type, run.fallback_reason, run.budget_exhausted_reason, *stopped]
    return list(dict.fromkeys(str(reason) for reason in reasons if reason))


def _budgets(run: DiagnosisRun, timeline: Sequence[DiagnosisTraceEvent]) -> list[BudgetBar]:
    finished = next((event for event in reversed(timeline) if event.event_type == "RUN_FINISHED"), None)
    allowed: dict[str, float] = {} if finished is None else finished.details.get("budget_allowed", {})
    used = {
        "model_calls": run.model_calls,
        "tool_calls": run.tool_calls,
        "total_tokens": run.total_tokens,
        "run_seconds": round((run.duration_ms or 0) / 1000, 1),
    }
    return [
        BudgetBar(name, used[name], allowed[name], used[name] >= allowed[name]) for name in _BUDGETS if name in allowed
    ]
