"""The demo's six accounts, with generated passwords and tokens that survive a restart."""

import json
import secrets
from pathlib import Path

from django.contrib.auth.models import Group, User
from rest_framework.authtoken.models import Token

GROUPS = {
    "demo": (),
    "other": (),
    "auditor": ("auditor",),
    "reasoning": ("auditor", "reasoning auditor"),
    "editor": ("knowledge editor",),
    "admin": (),
}


def load_accounts(path: Path) -> dict[str, dict[str, str]]:
    """Make the accounts and write them to `path` (mode 600). Raises `Group.DoesNotExist` before migrations."""
    known: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    accounts = {}
    for name, groups in GROUPS.items():
        password = known.get(name, {}).get("password") or secrets.token_urlsafe(12)
        is_admin = name == "admin"
        user, _ = User.objects.get_or_create(username=name)
        user.is_superuser = is_admin
        user.is_staff = bool(groups) or is_admin
        if not user.check_password(password):
            user.set_password(password)
        user.save()
        user.groups.set([Group.objects.get(name=group) for group in groups])
        token, _ = Token.objects.get_or_create(user=user)
        accounts[name] = {"username": name, "password": password, "token": token.key}
    path.touch(mode=0o600)
    path.write_text(json.dumps(accounts, indent=2))
    return accounts
