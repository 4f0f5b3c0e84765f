"""OpenTelemetry spans of finished runs: run, model call, tool call, by the `gen_ai.*` conventions.

Made from the run's records once it has ended, off the event loop; the SDK's own thread sends them from a bounded
queue, and a collector that is away costs a run nothing. Source: 05-audit, "APIs".
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import Attributes

from audit.models import AgentStep, DiagnosisRun, RunStatus, ToolInvocation

AGENT = "SuperBizAgent"
EXPORT_SECONDS = 10


def is_on() -> bool:
    """Whether spans are wanted."""
    return bool(settings.SUPERBIZ.telemetry.otlp_endpoint)


def export_run(run: DiagnosisRun, steps: Sequence[AgentStep], calls: Sequence[ToolInvocation]) -> None:
    """Hand the spans of a run that ended to the exporter. Only when `is_on`."""
    make_spans(_provider(settings.SUPERBIZ.telemetry.otlp_endpoint).get_tracer("superbiz.audit"), run, steps, calls)


def make_spans(tracer: Tracer, run: DiagnosisRun, steps: Sequence[AgentStep], calls: Sequence[ToolInvocation]) -> None:
    """One span a record. A tool call lies below the model call that asked for it, or below the run."""
    root = tracer.start_span(f"invoke_agent {AGENT}", start_time=_ns(run.started_at), attributes=_run_attributes(run))
    below_run = set_span_in_context(root)
    parents: list[tuple[AgentStep, Span]] = []
    for step in sorted(steps, key=lambda step: step.step_index):
        begun = step.created_at - timedelta(milliseconds=step.duration_ms)
        span = tracer.start_span(
            f"chat {run.model}", below_run, SpanKind.CLIENT, _step_attributes(run, step), start_time=_ns(begun)
        )
        _end(span, step.created_at, None if step.outcome == "OK" else step.outcome)
        parents.append((step, span))
    for call in calls:
        asked = [
            span for step, span in parents if step.created_at <= call.started_at and call.tool_name in step.tool_names
        ]
        above = set_span_in_context(asked[-1]) if asked else below_run
        span = tracer.start_span(
            f"execute_tool {call.tool_name}", above, SpanKind.INTERNAL, _call_attributes(call),
            start_time=_ns(call.started_at),
        )  # fmt: skip
        ended = call.started_at + timedelta(milliseconds=call.duration_ms)
        _end(span, ended, call.error_code if call.status == "ERROR" else None)
    _end(root, run.finished_at or run.deadline_at, run.failure_code if run.status == RunStatus.FAILED else None)


@lru_cache(maxsize=1)
def _provider(endpoint: str) -> TracerProvider:
    # Imported here: it is slow to load, and most installations send no spans.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider = TracerProvider(resource=Resource.create({"service.name": "superbizagent"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=EXPORT_SECONDS)))
    return provider


def _run_attributes(run: DiagnosisRun) -> Attributes:
    return _known({
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": str(run.session_id),
        "gen_ai.provider.name": _provider_name(run),
        "gen_ai.request.model": run.model,
        "gen_ai.usage.input_tokens": run.input_tokens,
        "gen_ai.usage.output_tokens": run.output_tokens,
        "superbiz.run.id": str(run.run_id),
        "superbiz.run.status": run.status,
        "superbiz.run.intent": run.intent,
        "superbiz.run.fallback_type": run.fallback_type,
        "superbiz.run.budget_exhausted": run.budget_exhausted_reason,
    })  # fmt: skip


def _step_attributes(run: DiagnosisRun, step: AgentStep) -> Attributes:
    return _known({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider_name(run),
        "gen_ai.request.model": run.model,
        "gen_ai.response.finish_reasons": [step.finish_reason] if step.finish_reason else None,
        "gen_ai.usage.input_tokens": step.input_tokens,
        "gen_ai.usage.output_tokens": step.output_tokens,
        "superbiz.purpose": step.purpose,
        "superbiz.attempt": step.attempt,
    })  # fmt: skip


def _call_attributes(call: ToolInvocation) -> Attributes:
    return _known({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool_name,
        "gen_ai.tool.call.id": call.tool_call_id,
        "gen_ai.tool.type": "function",
        "superbiz.evidence_status": call.evidence_status,
        "superbiz.result_bytes": call.result_bytes,
    })  # fmt: skip


def _provider_name(run: DiagnosisRun) -> str:
    return run.model.partition("/")[0]


def _known(attributes: dict[str, str | int | list[str] | None]) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}


def _end(span: Span, at: datetime, error: str | None) -> None:
    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    span.end(_ns(at))


def _ns(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000
