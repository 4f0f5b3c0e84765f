"""The groups that come with a migration, and what stops the start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import Group

from audit.groups import GROUPS, grant

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
@pytest.mark.parametrize("name", GROUPS)
def test_a_group_has_exactly_its_permissions(name: str) -> None:
    group = Group.objects.get(name=name)
    held = {(each.content_type.app_label, each.codename) for each in group.permissions.select_related("content_type")}
    assert held == {(app, codename) for app, codenames in GROUPS[name].items() for codename in codenames}


@pytest.mark.django_db
def test_nobody_may_cancel_or_change_by_being_an_auditor() -> None:
    codenames = set(Group.objects.get(name="reasoning auditor").permissions.values_list("codename", flat=True))
    assert all(codename.startswith("view_") for codename in codenames)


@pytest.mark.django_db
def test_migrating_again_gives_back_what_is_missing_and_keeps_the_rest() -> None:
    group = Group.objects.get(name="auditor")
    group.permissions.clear()
    for config in apps.get_app_configs():
        grant(config)
    assert group.permissions.count() == len(GROUPS["auditor"]["audit"])


def test_a_key_that_is_none_stops_the_start_and_is_not_shown() -> None:
    started = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "superbiz.settings", "SUPERBIZ_REASONING_KEYS": "PLANTED"},
    )  # fmt: skip
    assert started.returncode != 0
    assert "SUPERBIZ_REASONING_KEYS" in started.stderr
    assert "PLANTED" not in started.stderr
