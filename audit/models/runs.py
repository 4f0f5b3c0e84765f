"""`diagnosis_run`: one question, handled once."""
# ruff: noqa: DJ001  (null says "there is none"; an empty string beside it would say the same twice)

from datetime import datetime
from typing import Self
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, PermissionsMixin
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.fields import ExactJSONField
from audit.ids import new_id
from audit.models.sessions import ChatSession

ONE_RUNNING_RUN = "one_running_run_a_session"
QUERY_LENGTH = 4000
VIEW_RUNS = "audit.view_diagnosisrun"


class RunStatus(models.TextChoices):
    """A run is RUNNING until it reaches exactly one of the other four."""

    RUNNING = "RUNNING", _("running")
    SUCCEEDED = "SUCCEEDED", _("succeeded")
    FALLBACK = "FALLBACK", _("fallback")
    FAILED = "FAILED", _("failed")
    CANCELLED = "CANCELLED", _("cancelled")


class ReleaseOutcome(models.TextChoices):
    """What the stream's `done` said."""

    SUCCESS = "SUCCESS", _("success")
    FALLBACK = "FALLBACK", _("fallback")
    FAILED = "FAILED", _("failed")


class Intent(models.TextChoices):
    SYSTEM_CHAT = "SYSTEM_CHAT", _("about the system")
    KNOWLEDGE_QUERY = "KNOWLEDGE_QUERY", _("knowledge")
    DIAGNOSIS = "DIAGNOSIS", _("diagnosis")


OUTCOME_OF = {
    RunStatus.SUCCEEDED: ReleaseOutcome.SUCCESS,
    RunStatus.FALLBACK: ReleaseOutcome.FALLBACK,
    RunStatus.FAILED: ReleaseOutcome.FAILED,
    RunStatus.CANCELLED: None,
}


def _outcome_matches_status() -> Q:
    matches = Q(status__in=[RunStatus.RUNNING, RunStatus.CANCELLED], release_outcome__isnull=True)
    for status, outcome in OUTCOME_OF.items():
        if outcome is not None:
            # Without the second condition a NULL outcome makes the CHECK neither true nor false: it would pass.
            matches |= Q(status=status, release_outcome=outcome, release_outcome__isnull=False)
    return matches


class DiagnosisRunQuerySet(models.QuerySet["DiagnosisRun"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """All runs for an auditor, own ones for everybody else."""
        if isinstance(user, PermissionsMixin) and user.has_perm(VIEW_RUNS):
            return self
        return self.filter(session__user_id=user.pk)

    def overdue(self, before: datetime) -> Self:
        """Runs that should have ended before `before` and have not: their process is gone."""
        return self.filter(status=RunStatus.RUNNING, deadline_at__lt=before)

    def matching(self, words: str) -> Self:
        """Runs with exactly this run or session id; if it is no id, with these words in their question."""
        try:
            key = UUID(words.strip())
        except ValueError:
            return self.filter(user_query__icontains=words.strip())
        return self.filter(Q(run_id=key) | Q(session_id=key))

    def newest_first(self) -> Self:
        return self.order_by("-started_at", "-run_id")

    def after(self, started_at: datetime, run_id: object) -> Self:
        """The runs that follow this one in `newest_first`; the first condition alone is what the index needs."""
        return self.filter(started_at__lte=started_at).filter(Q(started_at__lt=started_at) | Q(run_id__lt=run_id))


class DiagnosisRun(models.Model):
    """One POST to /api/chat, handled once. It ends in exactly one final status."""

    run_id = models.UUIDField(_("run"), primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(
        ChatSession, models.PROTECT, db_index=False, related_name="runs", verbose_name=_("session")
    )  # `run_of_session` is its index
    user_query = models.CharField(_("question"), max_length=QUERY_LENGTH)
    intent = models.CharField(_("intent"), max_length=20, choices=Intent, null=True)  # null until routed
    status = models.CharField(_("status"), max_length=10, choices=RunStatus, default=RunStatus.RUNNING)
    # null while RUNNING and when CANCELLED: nothing was released, nothing was said
    release_outcome = models.CharField(_("outcome"), max_length=10, choices=ReleaseOutcome, null=True)
    fallback_type = models.CharField(_("fallback type"), max_length=40, null=True)  # null: no fallback
    fallback_reason = models.CharField(_("fallback reason"), max_length=200, null=True)  # null: no fallback
    failure_code = models.CharField(_("failure code"), max_length=40, null=True)  # null: not failed
    published_result = models.JSONField(_("published result"), null=True)  # null: not a released diagnosis
    released_content = ExactJSONField(_("released content"), null=True)  # null: no content was released
    model = models.CharField(_("model"), max_length=200)
    language = models.CharField(_("language"), max_length=20)
    instance = models.CharField(_("instance"), max_length=200)
    model_calls = models.PositiveIntegerField(_("model calls"), default=0)
    tool_calls = models.PositiveIntegerField(_("tool calls"), default=0)
    input_tokens = models.PositiveBigIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output tokens"), default=0)
    total_tokens = models.PositiveBigIntegerField(_("tokens"), default=0)
    cost_usd = models.DecimalField(_("cost (USD)"), max_digits=14, decimal_places=6, default=0)
    budget_exhausted_reason = models.CharField(_("budget exhausted"), max_length=40, null=True)  # null: none was
    started_at = models.DateTimeField(_("time"), default=timezone.now)
    deadline_at = models.DateTimeField(_("deadline"))
    finished_at = models.DateTimeField(_("finished"), null=True)  # null while RUNNING
    duration_ms = models.PositiveBigIntegerField(_("duration (ms)"), null=True)  # null while RUNNING

    objects = DiagnosisRunQuerySet.as_manager()

    class Meta:
        db_table = "diagnosis_run"
        default_permissions = ("view",)
        permissions = (("cancel_diagnosisrun", "Can cancel anybody's run"),)
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        constraints = (
            models.CheckConstraint(
                name="run_finished_iff_final",
                condition=Q(status=RunStatus.RUNNING, finished_at__isnull=True, duration_ms__isnull=True)
                | ~Q(status=RunStatus.RUNNING) & Q(finished_at__isnull=False, duration_ms__isnull=False),
            ),
            models.CheckConstraint(name="run_outcome_matches_status", condition=_outcome_matches_status()),
            models.CheckConstraint(
                name="run_content_iff_released",
                condition=Q(status__in=[RunStatus.SUCCEEDED, RunStatus.FALLBACK], released_content__isnull=False)
                | Q(status__in=[RunStatus.RUNNING, RunStatus.FAILED, RunStatus.CANCELLED])
                & Q(released_content__isnull=True),
            ),
            models.UniqueConstraint(name=ONE_RUNNING_RUN, fields=["session"], condition=Q(status=RunStatus.RUNNING)),
        )
        indexes = (
            models.Index(fields=["-started_at", "-run_id"], name="run_newest_first"),
            models.Index(fields=["session", "-started_at"], name="run_of_session"),
            # One for each filter of the list, so that a rare value does not walk through all runs.
            models.Index(fields=["status", "-started_at", "-run_id"], name="run_by_status"),
            models.Index(fields=["intent", "-started_at", "-run_id"], name="run_by_intent"),
            models.Index(
                fields=["fallback_type", "-started_at", "-run_id"],
                name="run_by_fallback",
                condition=Q(fallback_type__isnull=False),
            ),
            models.Index(fields=["deadline_at"], name="run_overdue", condition=Q(status=RunStatus.RUNNING)),
        )

    def __str__(self) -> str:
        return str(self.run_id)
