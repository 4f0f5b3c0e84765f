"""What happened inside a run: model calls, tool calls, the timeline. Metadata only."""
# ruff: noqa: DJ001  (null says "there is none"; an empty string beside it would say the same twice)

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.models.runs import DiagnosisRun


class StepOutcome(models.TextChoices):
    OK = "OK", _("ok")
    TIMEOUT = "TIMEOUT", _("timed out")
    TRANSPORT = "TRANSPORT", _("connection failed")
    REJECTED = "REJECTED", _("refused by the provider")
    INVALID = "INVALID", _("invalid reply")
    CANCELLED = "CANCELLED", _("cancelled")


class AgentStep(models.Model):
    """One attempt of one model call. No prompt, message or model text."""

    run = models.ForeignKey(
        DiagnosisRun, models.PROTECT, db_index=False, related_name="steps", verbose_name=_("run")
    )  # the unique constraint is its index
    step_index = models.PositiveIntegerField(_("step"))
    purpose = models.CharField(_("purpose"), max_length=20)
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    outcome = models.CharField(_("outcome"), max_length=10, choices=StepOutcome)
    message_count = models.PositiveIntegerField(_("messages"))
    message_roles = models.JSONField(_("roles"), default=list)
    has_text = models.BooleanField(_("has text"))
    tool_names = models.JSONField(_("tools asked for"), default=list)
    reasoning_available = models.BooleanField(_("reasoning available"))
    reasoning_bytes = models.PositiveIntegerField(_("reasoning (bytes)"))
    input_tokens = models.PositiveIntegerField(_("input tokens"))
    output_tokens = models.PositiveIntegerField(_("output tokens"))
    tokens_estimated = models.BooleanField(_("tokens estimated"))
    finish_reason = models.CharField(_("finish reason"), max_length=40, null=True)  # null: no reply
    duration_ms = models.PositiveBigIntegerField(_("duration (ms)"))
    thought = models.TextField(_("thought"), blank=True, default="")
    created_at = models.DateTimeField(_("time"))  # when the call ended

    class Meta:
        db_table = "agent_step"
        default_permissions = ("view",)
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        # Rows come in the order of time: a few pages of index find what the purge wants.
        indexes = (BrinIndex(fields=["created_at"], name="step_by_time"),)
        constraints = (
            models.UniqueConstraint(name="one_step_an_index", fields=["run", "step_index"]),
            models.CheckConstraint(name="step_thought_is_empty", condition=Q(thought="")),
        )

    def __str__(self) -> str:
        return f"{self.step_index} {self.purpose}"


class ToolInvocation(models.Model):
    """One tool call that ended. No arguments, SQL, log text or rows."""

    run = models.ForeignKey(
        DiagnosisRun, models.PROTECT, db_index=False, related_name="tool_invocations", verbose_name=_("run")
    )  # the unique constraint is its index
    tool_call_id = models.CharField(_("tool call"), max_length=160)
    tool_name = models.CharField(_("tool"), max_length=64)
    status = models.CharField(_("status"), max_length=12)
    evidence_status = models.CharField(_("evidence"), max_length=20)
    error_code = models.CharField(_("error"), max_length=40, null=True)  # null: no error
    summary = models.JSONField(_("summary"), default=dict)
    raw_bytes = models.PositiveBigIntegerField(_("raw (bytes)"))
    result_bytes = models.PositiveBigIntegerField(_("result (bytes)"))
    started_at = models.DateTimeField(_("time"))
    duration_ms = models.PositiveBigIntegerField(_("duration (ms)"))

    class Meta:
        db_table = "tool_invocation"
        default_permissions = ("view",)
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        # Rows come in the order of time: a few pages of index find what the purge wants.
        indexes = (BrinIndex(fields=["started_at"], name="tool_call_by_time"),)
        constraints = (models.UniqueConstraint(name="one_row_a_tool_call", fields=["run", "tool_call_id"]),)

    def __str__(self) -> str:
        return f"{self.tool_name} {self.tool_call_id}"


class DiagnosisTraceEvent(models.Model):
    """One entry of the timeline. Append-only: a trigger refuses UPDATE, and DELETE outside the purge."""

    run = models.ForeignKey(
        DiagnosisRun, models.PROTECT, db_index=False, related_name="timeline", verbose_name=_("run")
    )  # the unique constraint is its index
    seq = models.PositiveIntegerField(_("number"))  # 1, 2, ... without gaps
    event_type = models.CharField(_("event"), max_length=32)
    at = models.DateTimeField(_("time"))
    details = models.JSONField(_("details"), default=dict)

    class Meta:
        db_table = "diagnosis_trace_event"
        default_permissions = ("view",)
        verbose_name = _("timeline event")
        verbose_name_plural = _("timeline events")
        # Rows come in the order of time: a few pages of index find what the purge wants.
        indexes = (BrinIndex(fields=["at"], name="event_by_time"),)
        constraints = (models.UniqueConstraint(name="one_event_a_seq", fields=["run", "seq"]),)

    def __str__(self) -> str:
        return f"{self.seq} {self.event_type}"
