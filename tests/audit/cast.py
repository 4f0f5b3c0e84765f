"""The people of the audit's tests, the same everywhere."""

from dataclasses import dataclass

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from rest_framework.authtoken.models import Token

from tests.audit.factories import UserFactory


@dataclass(frozen=True)
class Cast:
    """`owner` asked; `other` did not; the auditors watch; `reasoning` may also read reasoning."""

    owner: User
    other: User
    auditor: User
    reasoning: User
    editor: User
    admin: User

    def client(self, name: str) -> Client:
        """A client that is logged in as that person; `anonymous` is nobody."""
        client = Client()
        if name != "anonymous":
            client.force_login(getattr(self, name))
        return client


def token_header(user: User) -> dict[str, str]:
    return {"Authorization": f"Token {Token.objects.get_or_create(user=user)[0].key}"}


def make_cast() -> Cast:
    groups = {"auditor": "auditor", "reasoning": "reasoning auditor", "editor": "knowledge editor"}
    people = {name: UserFactory.create(username=name) for name in ("owner", "other", *groups)}
    for name, group in groups.items():
        people[name].groups.add(Group.objects.get(name=group))
    admin = UserFactory.create(username="admin", is_staff=True, is_superuser=True)
    return Cast(**people, admin=admin)


@pytest.fixture
def cast(db: None) -> Cast:
    return make_cast()
