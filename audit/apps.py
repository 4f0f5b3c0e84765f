"""The audit: what happened in each run, for the people who must be able to tell."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")

    def ready(self) -> None:
        """Fill the groups after each migration: permissions exist only from then on."""
        from audit.groups import grant

        post_migrate.connect(grant, dispatch_uid="audit.groups")
