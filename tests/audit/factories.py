"""Sessions, runs and what happened in them, as the audit would have stored them."""
# factory_boy leaves its declarations untyped.
# mypy: disable-error-code="no-untyped-call"

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from factory.declarations import LazyAttribute, LazyFunction, Sequence, SubFactory, Trait
from factory.django import DjangoModelFactory

from audit.models import (
    AgentReasoningAudit,
    AgentStep,
    ChatSession,
    DiagnosisRun,
    DiagnosisTraceEvent,
    ReleaseOutcome,
    RunStatus,
    ToolInvocation,
)

STARTED = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
REPORT = {
    "content_type": "DIAGNOSIS_REPORT",
    "payload": {
        "conclusion": {"text": "The pool is exhausted.", "based_on_analysis_ids": ["a1"]},
        "analysis": [
            {"analysis_id": "a1", "kind": "NORMAL", "text": "<b>42</b> timeouts were logged.", "reference_ids": ["R1"]}
        ],
        "action_plan": [
            {"action": "Restart order-service", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": True}
        ],
        "recommendations": [{"text": "Watch the pool.", "based_on_analysis_ids": ["a1"]}],
        "limitations": {"scope": "30 minutes", "missing_info": ["no metrics"]},
        "references": [
            {
                "reference_id": "R1",
                "source_type": "LOG",
                "source": "APPLICATION",
                "source_kind": "MOCK",
                "scope": "30 minutes",
                "timestamp": "2026-03-01T08:30:05Z",
                "patterns": [{"count": 42, "example": "timeout after <*> ms"}],
                "events": [],
            }
        ],
    },
}


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User

    username = Sequence(lambda n: f"user-{n}")


class SessionFactory(DjangoModelFactory[ChatSession]):
    class Meta:
        model = ChatSession

    user = SubFactory(UserFactory)
    title = "订单支付超时，帮我排查"
    created_at = STARTED
    last_active_at = STARTED


class RunFactory(DjangoModelFactory[DiagnosisRun]):
    """A diagnosis that succeeded; the traits are the other ends."""

    class Meta:
        model = DiagnosisRun

    session = SubFactory(SessionFactory)
    user_query = "订单支付超时，帮我排查"
    intent = "DIAGNOSIS"
    status = RunStatus.SUCCEEDED
    release_outcome = ReleaseOutcome.SUCCESS
    released_content = REPORT
    published_result = LazyFunction(
        lambda: {
            "user_query": "订单支付超时，帮我排查",
            "published_conclusion": "The pool is exhausted.",
            "scope": "30 minutes",
            "limitations": ["no metrics"],
            "source_documents": [{"document_id": "d1", "title": "支付超时排查手册"}],
        }
    )
    model = "openai/test"
    language = "zh-hans"
    instance = "host-1"
    model_calls = 3
    tool_calls = 2
    input_tokens = 3_000
    output_tokens = 500
    total_tokens = 3_500
    cost_usd = 0.0123
    started_at = STARTED
    deadline_at = LazyAttribute(lambda run: run.started_at + timedelta(seconds=180))
    finished_at = LazyAttribute(lambda run: run.started_at + timedelta(seconds=8))
    duration_ms = 8_000

    class Params:
        running = Trait(
            status=RunStatus.RUNNING,
            release_outcome=None,
            released_content=None,
            published_result=None,
            finished_at=None,
            duration_ms=None,
        )
        cancelled = Trait(
            status=RunStatus.CANCELLED, release_outcome=None, released_content=None, published_result=None
        )
        failed = Trait(
            status=RunStatus.FAILED,
            release_outcome=ReleaseOutcome.FAILED,
            released_content=None,
            published_result=None,
            failure_code="MODEL_UNAVAILABLE",
        )
        fallback = Trait(
            status=RunStatus.FALLBACK,
            release_outcome=ReleaseOutcome.FALLBACK,
            published_result=None,
            fallback_type="SEMANTIC_UNSUPPORTED",
            fallback_reason="UNSUPPORTED",
            released_content={
                "content_type": "FALLBACK",
                "payload": {
                    "type": "SEMANTIC_UNSUPPORTED",
                    "conclusion": None,
                    "message": "The evidence does not carry the report.",
                    "verified_sources": [{"source_type": "LOG", "source": "APPLICATION", "scope": "30 minutes"}],
                    "limitations": [],
                    "next_steps": ["Look at the logs."],
                },
            },
        )


class StepFactory(DjangoModelFactory[AgentStep]):
    class Meta:
        model = AgentStep

    run = SubFactory(RunFactory)
    step_index = Sequence(lambda n: n + 1)
    purpose = "diagnosis"
    attempt = 1
    outcome = "OK"
    message_count = 2
    message_roles = LazyFunction(lambda: ["system", "user"])
    has_text = True
    tool_names = LazyFunction(lambda: ["query_logs"])
    reasoning_available = False
    reasoning_bytes = 0
    input_tokens = 1_000
    output_tokens = 200
    tokens_estimated = False
    finish_reason = "tool_calls"
    duration_ms = 2_000
    created_at = LazyAttribute(lambda step: step.run.started_at + timedelta(seconds=3))


class ReasoningFactory(DjangoModelFactory[AgentReasoningAudit]):
    class Meta:
        model = AgentReasoningAudit

    step = SubFactory(StepFactory)
    run = LazyAttribute(lambda reasoning: reasoning.step.run)
    reasoning_available = False
    reasoning_content = None
    content_bytes = 0
    truncated = False
    created_at = LazyAttribute(lambda reasoning: reasoning.step.created_at)


class ToolInvocationFactory(DjangoModelFactory[ToolInvocation]):
    class Meta:
        model = ToolInvocation

    run = SubFactory(RunFactory)
    tool_call_id = Sequence(lambda n: f"call_{n}")
    tool_name = "query_logs"
    status = "READY"
    evidence_status = "EVIDENCE_FOUND"
    summary = LazyFunction(lambda: {"topic": "APPLICATION", "lookback_minutes": 30, "match_count": 42})
    raw_bytes = 20_000
    result_bytes = 4_000
    started_at = LazyAttribute(lambda call: call.run.started_at + timedelta(seconds=3))
    duration_ms = 400


class TraceEventFactory(DjangoModelFactory[DiagnosisTraceEvent]):
    class Meta:
        model = DiagnosisTraceEvent

    run = SubFactory(RunFactory)
    seq = 1
    event_type = "RUN_STARTED"
    at = LazyAttribute(lambda event: event.run.started_at)
    details = LazyFunction(dict)


def full_run(**values: Any) -> DiagnosisRun:
    """A run with steps, tool calls and a timeline, as a diagnosis leaves them."""
    run: DiagnosisRun = RunFactory.create(**values)
    for index, purpose in enumerate(["intent_router", "diagnosis", "diagnosis", "semantic_guard"], start=1):
        at = run.started_at + timedelta(seconds=2 * index)
        step = StepFactory.create(
            run=run, step_index=index, purpose=purpose, created_at=at, duration_ms=1_500,
            tool_names=["query_logs", "query_mysql"] if index == 2 else [],
        )  # fmt: skip
        ReasoningFactory.create(step=step)
    ToolInvocationFactory.create(run=run, tool_call_id="call_1", started_at=run.started_at + timedelta(seconds=4.1))
    ToolInvocationFactory.create(
        run=run, tool_call_id="call_2", tool_name="query_mysql", status="ERROR", evidence_status="ERROR",
        error_code="NOT_ALLOWED", summary={"data_source": "order_readonly"}, result_bytes=200,
        started_at=run.started_at + timedelta(seconds=4.6),
    )  # fmt: skip
    budget = {"model_calls": 12, "tool_calls": 16, "total_tokens": 200_000, "run_seconds": 180}
    events: list[tuple[str, dict[str, Any]]] = [
        ("RUN_STARTED", {"model": run.model, "language": run.language, "run_seconds": 180}),
        ("ROUTING_DECIDED", {"intent": "DIAGNOSIS"}),
        ("AGENT_STARTED", {"has_previous_turn": False}),
        (
            "EVIDENCE_CHECKED",
            {
                "attempt": 1, "passed": False, "error_count": 1, "figures_total": 2, "figures_found": 1,
                "errors": [{"path": "$.analysis[0].tool_call_ids[0]", "code": "NOT_CITABLE"}],
                "figures_missing": ["17"],
            },
        ),
        ("SEMANTIC_DECIDED", {"verdict": "SUPPORTED", "reason": "Each claim is carried."}),
        ("RELEASE_DECIDED", {"outcome": "SUCCESS", "fallback_type": None, "fallback_reason": None}),
        ("RUN_FINISHED", {"status": run.status, "duration_ms": run.duration_ms, "budget_allowed": budget}),
    ]  # fmt: skip
    for seq, (event_type, details) in enumerate(events, start=1):
        TraceEventFactory.create(
            run=run, seq=seq, event_type=event_type, at=run.started_at + timedelta(seconds=seq), details=details
        )
    return run
