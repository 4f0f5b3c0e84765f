"""Figures for Prometheus at `/metrics`: of this process, readable from inside only. Source: 05-audit, "APIs"."""

import ipaddress
from weakref import WeakSet

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest

from audit.models import DiagnosisRun
from audit.records import ToolCall

ACTIVE_RUNS: "WeakSet[object]" = WeakSet()  # recorders; one that is dropped unfinished leaves by itself

_RUNS = Counter("superbiz_runs", "Runs that ended.", ["intent", "status", "fallback_type", "failure_code"])
_DURATION = Histogram(
    "superbiz_run_duration_seconds", "From accepting a question to its end.", ["intent", "status"],
    buckets=(0.5, 1, 2, 5, 10, 20, 30, 60, 90, 120, 180, 300),
)  # fmt: skip
_TOKENS = Counter("superbiz_tokens", "Tokens of all model calls.", ["direction"])
_COST = Counter("superbiz_cost_usd", "What the model calls cost (US dollars).")
_EXHAUSTED = Counter("superbiz_budget_exhausted", "Runs in which a budget ran out, by the first one.", ["reason"])
_TOOL_CALLS = Counter("superbiz_tool_calls", "Tool calls that ended.", ["tool", "status", "error_code"])
_ACTIVE = Gauge("superbiz_runs_active", "Runs going on in this process.")
_ACTIVE.set_function(lambda: len(ACTIVE_RUNS))

UNKNOWN_TOOL = "UNKNOWN_TOOL"


def observe_run(run: DiagnosisRun) -> None:
    """Count a run that ended."""
    intent = run.intent or "none"
    _RUNS.labels(intent, run.status, run.fallback_type or "", run.failure_code or "").inc()
    _DURATION.labels(intent, run.status).observe((run.duration_ms or 0) / 1000)
    _TOKENS.labels("input").inc(run.input_tokens)
    _TOKENS.labels("output").inc(run.output_tokens)
    _COST.inc(float(run.cost_usd))
    if run.budget_exhausted_reason:
        _EXHAUSTED.labels(run.budget_exhausted_reason).inc()


def observe_tool_call(record: ToolCall) -> None:
    """Count a tool call. Names that a model made up share one label: they have no end."""
    tool = "unknown" if record.error_code == UNKNOWN_TOOL else record.tool_name
    _TOOL_CALLS.labels(tool, str(record.status), record.error_code or "").inc()


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures, for a direct caller with a loopback or private address; 404 for everybody else."""
    if "HTTP_X_FORWARDED_FOR" in request.META or not _is_inside(request.META.get("REMOTE_ADDR", "")):
        return HttpResponseNotFound()
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def _is_inside(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return parsed.is_loopback or parsed.is_private
