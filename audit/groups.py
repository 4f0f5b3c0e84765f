"""Three groups for the people who watch and feed the system. Source: 05-audit, "Admin"."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission

_AUDITOR = (
    "view_chatsession",
    "view_diagnosisrun",
    "view_agentstep",
    "view_toolinvocation",
    "view_diagnosistraceevent",
)
_REASONING = ("view_agentreasoningaudit", "view_reasoningaccess")

GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "auditor": {"audit": _AUDITOR},
    "reasoning auditor": {"audit": (*_AUDITOR, *_REASONING)},
    "knowledge editor": {"knowledge": ("view_document", "add_document", "change_document", "delete_document")},
}


def grant(sender: AppConfig, using: str = "default", **kwargs: Any) -> None:
    """Make the groups and give them `sender`'s permissions, which exist only after its migrations.

    Runs after every `migrate`, for each app, so that the order of the apps does not matter.
    """
    if sender.label == "auth":  # last of what a group needs; the permissions follow with each app
        for name in GROUPS:
            Group.objects.using(using).get_or_create(name=name)
    for name, by_app in GROUPS.items():
        codenames = by_app.get(sender.label, ())
        permissions = Permission.objects.using(using).filter(
            content_type__app_label=sender.label, codename__in=codenames
        )
        if codenames and permissions:
            Group.objects.using(using).get_or_create(name=name)[0].permissions.add(*permissions)
