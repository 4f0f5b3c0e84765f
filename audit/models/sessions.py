"""`chat_session`: a directory of runs that belongs to one user. It holds no conversation."""

from typing import Self

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.ids import new_id

TITLE_LENGTH = 80
LAST_QUERY_LENGTH = 500


class ChatSessionQuerySet(models.QuerySet["ChatSession"]):
    def of(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """What `user` still sees: own sessions that are not hidden."""
        return self.filter(user_id=user.pk, hidden_at=None)


class ChatSession(models.Model):
    session_id = models.UUIDField(_("session"), primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, db_index=False, related_name="chat_sessions", verbose_name=_("user")
    )  # `session_of_user` is its index
    title = models.CharField(_("title"), max_length=TITLE_LENGTH)  # the first question's beginning
    last_intent = models.CharField(_("last intent"), max_length=20, blank=True)
    last_user_query = models.CharField(_("last question"), max_length=LAST_QUERY_LENGTH, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    last_active_at = models.DateTimeField(_("last active"), default=timezone.now)
    hidden_at = models.DateTimeField(_("hidden"), null=True, blank=True)  # null: its user still sees it

    objects = ChatSessionQuerySet.as_manager()

    class Meta:
        db_table = "chat_session"
        default_permissions = ("view",)
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        indexes = (
            models.Index(fields=["user", "-last_active_at"], name="session_of_user"),  # the user's list
            models.Index(fields=["last_active_at"], name="session_by_activity"),  # the purge
        )

    def __str__(self) -> str:
        return self.title
