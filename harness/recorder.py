"""What the harness hands to the audit: typed, bounded metadata, no prompt, argument or model text.

The audit implements `Recorder`. Appending is immediate and in memory; the recorder writes in batches, off
the event loop. Source: 05-audit, "Recorder" and "Tables".
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, Field

from harness.tools.summary import ToolSummary


class Purpose(StrEnum):
    """What a model call is for; the value of the header `X-SuperBiz-Purpose`."""

    INTENT_ROUTER = "intent_router"
    SYSTEM_CHAT = "system_chat"
    KNOWLEDGE_ANSWER = "knowledge_answer"
    DIAGNOSIS = "diagnosis"
    EVIDENCE_REPAIR = "evidence_repair"
    SEMANTIC_GUARD = "semantic_guard"


class StepOutcome(StrEnum):
    OK = "OK"
    TIMEOUT = "TIMEOUT"
    TRANSPORT = "TRANSPORT"
    REJECTED = "REJECTED"
    INVALID = "INVALID"
    CANCELLED = "CANCELLED"


class ToolCallStatus(StrEnum):
    """Life of a canonical record; it only moves forward. Source: 03-tools, "The canonical record"."""

    PROJECTING = "PROJECTING"
    READY = "READY"
    ERROR = "ERROR"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reasoning(Frozen):
    """What the provider returned as reasoning; `content` is None when it returned none."""

    provider_field: str | None = None
    content: str | None = Field(default=None, max_length=32_000, repr=False)
    content_bytes: int = 0
    truncated: bool = False


class StepRecord(Frozen):
    """One attempt of one model call: a row of `agent_step`, with its reasoning beside it."""

    step_index: int
    purpose: Purpose
    attempt: int
    outcome: StepOutcome
    message_count: int
    message_roles: list[str]
    has_text: bool
    tool_names: list[str]
    reasoning: Reasoning
    input_tokens: int
    output_tokens: int
    tokens_estimated: bool
    cost_usd: float
    finish_reason: str | None
    started_at: datetime
    duration_ms: int


class ToolRecord(Frozen):
    """One tool call that ended: a row of `tool_invocation`.

    `tool_call_id` is as the model gave it when it is well-formed and new; else one that the harness
    derives, so that the row exists without overwriting another.
    """

    tool_call_id: str
    tool_name: str
    status: ToolCallStatus
    evidence_status: str
    error_code: str | None
    summary: ToolSummary
    raw_bytes: int
    result_bytes: int
    started_at: datetime
    duration_ms: int


class TraceDetails(Frozen):
    """Base of the typed details of one timeline event; numbers, enums and names only, 4 KiB at most."""

    event_type: ClassVar[str]


class RunStarted(TraceDetails):
    event_type = "RUN_STARTED"
    model: str
    language: str
    run_seconds: float


class RoutingAttempt(TraceDetails):
    event_type = "ROUTING_ATTEMPT"
    attempt: int
    outcome: StepOutcome


class RoutingDecided(TraceDetails):
    event_type = "ROUTING_DECIDED"
    intent: str


class RoutingFailed(TraceDetails):
    event_type = "ROUTING_FAILED"
    attempts: int


class AgentStarted(TraceDetails):
    event_type = "AGENT_STARTED"
    has_previous_turn: bool


class PlanPublished(TraceDetails):
    event_type = "PLAN_PUBLISHED"
    steps: int
    default_plan: bool


class AgentModelStep(TraceDetails):
    event_type = "AGENT_MODEL_STEP"
    step_index: int
    purpose: Purpose
    outcome: StepOutcome
    tool_names: list[str]
    reasoning_available: bool
    reasoning_bytes: int


class ToolStarted(TraceDetails):
    event_type = "TOOL_STARTED"
    tool_call_id: str
    tool_name: str


class ToolFinished(TraceDetails):
    event_type = "TOOL_FINISHED"
    tool_call_id: str
    tool_name: str
    status: ToolCallStatus
    evidence_status: str
    error_code: str | None
    duration_ms: int


class DraftReceived(TraceDetails):
    event_type = "DRAFT_RECEIVED"
    characters: int
    repaired: bool


class GuardErrorRecord(Frozen):
    path: str = Field(max_length=200)
    code: str


class EvidenceChecked(TraceDetails):
    event_type = "EVIDENCE_CHECKED"
    attempt: int
    passed: bool
    errors: list[GuardErrorRecord] = Field(max_length=20)
    error_count: int
    figures_total: int
    figures_found: int
    figures_missing: list[str] = Field(max_length=20)


class EvidenceRepairStarted(TraceDetails):
    event_type = "EVIDENCE_REPAIR_STARTED"
    error_count: int


class SemanticAttempt(TraceDetails):
    event_type = "SEMANTIC_ATTEMPT"
    attempt: int
    outcome: StepOutcome


class SemanticDecided(TraceDetails):
    event_type = "SEMANTIC_DECIDED"
    verdict: str  # SUPPORTED, UNSUPPORTED or UNAVAILABLE
    reason: str | None = Field(default=None, max_length=1000)  # for auditors only


class ReleaseDecided(TraceDetails):
    event_type = "RELEASE_DECIDED"
    outcome: str
    fallback_type: str | None = None
    fallback_reason: str | None = None


class BudgetExhausted(TraceDetails):
    event_type = "BUDGET_EXHAUSTED"
    reason: str


class Cancelled(TraceDetails):
    event_type = "CANCELLED"
    reason: str


class RunFinished(TraceDetails):
    event_type = "RUN_FINISHED"
    status: str
    failure_code: str | None = None
    duration_ms: int
    model_calls: int
    tool_calls: int
    total_tokens: int
    budget_allowed: dict[str, float]


class Recorder(Protocol):
    """One run's record. Implemented by `audit.recorder.RunRecorder`.

    `event`, `step` and `tool` only append, so they may be called anywhere, also while a cancellation
    unwinds. `checkpoint` may write what is waiting and raises when the database is away.
    """

    def event(self, details: TraceDetails, at: datetime | None = None) -> None: ...

    def step(self, record: StepRecord) -> None: ...

    def tool(self, record: ToolRecord) -> None: ...

    async def checkpoint(self) -> None: ...


def now() -> datetime:
    return datetime.now(UTC)
