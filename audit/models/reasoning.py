"""What providers returned as reasoning, and who read it. Source: 05-audit, "Reasoning"."""
# ruff: noqa: DJ001  (null says "there is none"; an empty string beside it would say the same twice)

from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.models.entries import AgentStep
from audit.models.runs import DiagnosisRun

VIEW_REASONING = "audit.view_agentreasoningaudit"


class NoContentReason(models.TextChoices):
    NO_KEY = "NO_KEY", _("no encryption key is configured")


class AgentReasoningAudit(models.Model):
    """The reasoning of one model call, or the statement that there was none. Encrypted at rest."""

    run = models.ForeignKey(DiagnosisRun, models.PROTECT, related_name="reasoning", verbose_name=_("run"))
    step = models.OneToOneField(AgentStep, models.PROTECT, related_name="reasoning", verbose_name=_("model call"))
    provider_field = models.CharField(_("provider field"), max_length=40, null=True)  # null: nothing returned
    reasoning_available = models.BooleanField(_("available"))
    reasoning_content = models.TextField(_("content"), null=True)  # a Fernet token; null: none, or no key
    no_content_reason = models.CharField(
        _("why there is no content"), max_length=10, choices=NoContentReason, null=True
    )  # null: there is content, or nothing was returned
    content_bytes = models.PositiveIntegerField(_("bytes"))  # of the kept text in UTF-8, before encryption
    truncated = models.BooleanField(_("truncated"))
    created_at = models.DateTimeField(_("time"))

    class Meta:
        db_table = "agent_reasoning_audit"
        default_permissions = ("view",)
        verbose_name = _("reasoning")
        verbose_name_plural = _("reasoning")
        indexes = (models.Index(fields=["created_at"], name="reasoning_by_time"),)  # the purge
        constraints = (
            models.CheckConstraint(
                name="reasoning_content_iff_available",
                condition=Q(
                    reasoning_available=False,
                    reasoning_content__isnull=True,
                    no_content_reason__isnull=True,
                    content_bytes=0,
                )
                | Q(reasoning_available=True, reasoning_content__isnull=False, no_content_reason__isnull=True)
                | Q(reasoning_available=True, reasoning_content__isnull=True, no_content_reason__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.step_id}"


class ReasoningAccessQuerySet(models.QuerySet["ReasoningAccess"]):
    def of_run(self, run_id: str) -> Self:
        """The attempts on exactly this run; none for what is no id."""
        try:
            return self.filter(run_id=UUID(run_id.strip()))
        except ValueError:
            return self.none()


class ReasoningAccess(models.Model):
    """One attempt to read reasoning, refused ones too: who, when, which run, from where."""

    class Via(models.TextChoices):
        API = "API", _("API")
        ADMIN = "ADMIN", _("admin")

    at = models.DateTimeField(_("time"), default=timezone.now)
    user = models.ForeignKey(  # null: nobody was logged in
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", verbose_name=_("user")
    )
    # Plain ids, not keys: an attempt may name what does not exist, and the log outlives the run.
    session_id = models.UUIDField(_("session"), null=True)  # null: the page of a run names none
    run_id = models.UUIDField(_("run"), null=True)  # null: the request named none, or no id
    granted = models.BooleanField(_("granted"))
    http_status = models.PositiveSmallIntegerField(_("answer"))
    remote_address = models.GenericIPAddressField(_("from"), null=True)  # null: a socket without address
    via = models.CharField(_("via"), max_length=5, choices=Via)

    objects = ReasoningAccessQuerySet.as_manager()

    class Meta:
        db_table = "reasoning_access"
        default_permissions = ("view",)
        verbose_name = _("reading of reasoning")
        verbose_name_plural = _("readings of reasoning")
        indexes = (models.Index(fields=["-at"], name="reasoning_access_by_time"),)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.run_id}"
