"""What the audit's endpoints give. Never reasoning, but for the endpoint that is there for it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from audit.models import AgentReasoningAudit, AgentStep, DiagnosisRun, DiagnosisTraceEvent, RunStatus, ToolInvocation
from audit.models.runs import Intent

# The guard's words, and figures of a draft that may never have been released.
AUDITORS_ONLY = {"SEMANTIC_DECIDED": frozenset({"reason"}), "EVIDENCE_CHECKED": frozenset({"figures_missing"})}


class AuditRunSerializer(serializers.ModelSerializer[DiagnosisRun]):
    """A run as the list and the export show it: figures, and the question."""

    session_id = serializers.UUIDField()
    user = serializers.CharField(source="session.user.username")
    cost_usd = serializers.FloatField()

    class Meta:
        model = DiagnosisRun
        fields: tuple[str, ...] = (
            "run_id",
            "session_id",
            "user",
            "user_query",
            "intent",
            "status",
            "release_outcome",
            "fallback_type",
            "fallback_reason",
            "failure_code",
            "model",
            "language",
            "model_calls",
            "tool_calls",
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "cost_usd",
            "budget_exhausted_reason",
            "started_at",
            "deadline_at",
            "finished_at",
            "duration_ms",
        )
        read_only_fields = fields


class TracedRunSerializer(AuditRunSerializer):
    """A run in its trace: with what was released."""

    class Meta(AuditRunSerializer.Meta):
        fields = (*AuditRunSerializer.Meta.fields, "published_result", "released_content")
        read_only_fields = fields


class StepSerializer(serializers.ModelSerializer[AgentStep]):
    class Meta:
        model = AgentStep
        fields = (
            "step_index",
            "purpose",
            "attempt",
            "outcome",
            "message_count",
            "message_roles",
            "has_text",
            "tool_names",
            "reasoning_available",
            "reasoning_bytes",
            "input_tokens",
            "output_tokens",
            "tokens_estimated",
            "finish_reason",
            "duration_ms",
            "thought",
            "created_at",
        )
        read_only_fields = fields


class ToolInvocationSerializer(serializers.ModelSerializer[ToolInvocation]):
    class Meta:
        model = ToolInvocation
        fields = (
            "tool_call_id",
            "tool_name",
            "status",
            "evidence_status",
            "error_code",
            "summary",
            "raw_bytes",
            "result_bytes",
            "started_at",
            "duration_ms",
        )
        read_only_fields = fields


class TraceEventSerializer(serializers.ModelSerializer[DiagnosisTraceEvent]):
    """A timeline event; `context["auditor"]` says whether free text of the guards is shown."""

    details = serializers.SerializerMethodField()

    class Meta:
        model = DiagnosisTraceEvent
        fields = ("seq", "event_type", "at", "details")
        read_only_fields = fields

    @extend_schema_field(serializers.DictField())
    def get_details(self, event: DiagnosisTraceEvent) -> dict[str, Any]:
        hidden = frozenset() if self.context["auditor"] else AUDITORS_ONLY.get(event.event_type, frozenset())
        return {name: value for name, value in event.details.items() if name not in hidden}


class TraceSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    run = TracedRunSerializer()
    steps = StepSerializer(many=True)
    tool_invocations = ToolInvocationSerializer(many=True)
    timeline = TraceEventSerializer(many=True)


class ReasoningItemSerializer(serializers.ModelSerializer[AgentReasoningAudit]):
    """One model call's reasoning, decrypted by the view."""

    step_index = serializers.IntegerField(source="step.step_index")
    purpose = serializers.CharField(source="step.purpose")

    class Meta:
        model = AgentReasoningAudit
        fields = (
            "step_index",
            "purpose",
            "reasoning_available",
            "reasoning_content",
            "content_bytes",
            "truncated",
            "created_at",
        )
        read_only_fields = fields


class ReasoningSerializer(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    items = ReasoningItemSerializer(many=True)


class RunIdSerializer(serializers.Serializer[Any]):
    """The query string of the trace."""

    runId = serializers.UUIDField(required=False)  # noqa: N815  (the contract's name)


class RequiredRunIdSerializer(serializers.Serializer[Any]):
    """The query string of the reasoning."""

    runId = serializers.UUIDField()  # noqa: N815  (the contract's name)


class RunFilterSerializer(serializers.Serializer[Any]):
    """The query string of the runs list and its export."""

    status = serializers.ChoiceField(choices=RunStatus.choices, required=False)
    intent = serializers.ChoiceField(choices=Intent.choices, required=False)
    user = serializers.CharField(required=False, help_text="username, exactly")
    since = serializers.DateTimeField(required=False, help_text="runs that started at this time or later")
    until = serializers.DateTimeField(required=False, help_text="runs that started before this time")
    q = serializers.CharField(
        required=False, max_length=200, help_text="a run's or session's id, or words of the question"
    )
