"""The audit: what happened in each run, for the people who must be able to tell."""

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")

    def ready(self) -> None:
        """Refuse keys that are none, and fill the groups after each migration: permissions exist only then."""
        from audit.groups import grant
        from audit.vault import VaultError, get_vault

        post_migrate.connect(grant, dispatch_uid="audit.groups")
        try:
            get_vault()
        except VaultError as error:  # now, and not in the first run whose provider returns reasoning
            raise ImproperlyConfigured(str(error)) from None
