"""What users think of answers. Sessions and runs are the audit's tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models import DiagnosisRun

MAX_COMMENT_CHARACTERS = 2_000


class Rating(models.TextChoices):
    UP = "up", _("Helpful")
    DOWN = "down", _("Not helpful")


class Feedback(models.Model):
    """The asker's opinion of one run; a later one replaces it. Source: 01-chat, "Other endpoints"."""

    # CASCADE: retention deletes runs, and an opinion about nothing is of no use.
    run = models.OneToOneField(DiagnosisRun, models.CASCADE, related_name="feedback", verbose_name=_("run"))
    rating = models.CharField(_("rating"), max_length=4, choices=Rating)
    comment = models.CharField(_("comment"), max_length=MAX_COMMENT_CHARACTERS, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        db_table = "chat_feedback"
        verbose_name = _("feedback")
        verbose_name_plural = _("feedback")
        constraints = (
            models.CheckConstraint(name="feedback_rating_known", condition=models.Q(rating__in=["up", "down"])),
        )

    def __str__(self) -> str:
        return f"{self.run_id}: {self.rating}"
