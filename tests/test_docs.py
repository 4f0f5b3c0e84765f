"""Docs that cannot rot: codes, event types and commands of the code are in the docs."""

from enum import StrEnum
from pathlib import Path

import pytest
from django.core.management import get_commands

from harness import recorder
from harness.errors import FailureCode, ToolErrorCode
from harness.progress import StatusCode

ROOT = Path(__file__).parent.parent
APPS = ("superbiz", "chat", "audit", "knowledge")


@pytest.mark.parametrize(
    ("codes", "page"),
    [(StatusCode, "api"), (FailureCode, "api"), (ToolErrorCode, "tools")],
    ids=lambda value: str(value),
)
def test_every_code_is_documented(codes: type[StrEnum], page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert [code.value for code in codes if f"`{code.value}`" not in text] == []


def test_every_timeline_event_is_documented() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    types = [kind.event_type for kind in recorder.TraceDetails.__subclasses__()]
    assert len(types) == 18
    assert [name for name in types if f"`{name}`" not in text] == []


def test_every_command_is_documented_and_every_documented_one_exists() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    documented = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert documented == {name for name, app in get_commands().items() if app in APPS}


def test_the_architecture_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {part for part in text.split("`") if part.endswith(".py")}
    assert len(named) > 10
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
