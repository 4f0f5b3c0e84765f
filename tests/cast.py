"""The people of the tests: one owns, one is somebody else, the others hold a role. Source: 05-audit, "Admin"."""

from dataclasses import dataclass, fields

from django.contrib.auth.models import Group, User
from rest_framework.authtoken.models import Token

_GROUPS = {"auditor": "auditor", "reasoning": "reasoning auditor", "editor": "knowledge editor"}


@dataclass(frozen=True)
class Cast:
    """Each has a token; usernames are the roles."""

    owner: User
    other: User
    auditor: User
    reasoning: User
    editor: User
    admin: User

    def __getitem__(self, role: str) -> User:
        user = getattr(self, role)
        assert isinstance(user, User)
        return user


ROLES = tuple(field.name for field in fields(Cast))


def make_cast(password: str | None = None) -> Cast:
    """With a password they can log in, which takes a while to prepare."""
    people = {}
    for role in ROLES:
        if role == "admin":
            user = User.objects.create_superuser(role, password=password)
        else:
            user = User.objects.create_user(role, password=password, is_staff=role in _GROUPS)
        if role in _GROUPS:
            user.groups.add(Group.objects.get(name=_GROUPS[role]))
        Token.objects.create(user=user)
        people[role] = user
    return Cast(**people)


def token_header(user: User) -> dict[str, str]:
    return {"Authorization": f"Token {Token.objects.get(user=user).key}"}
