"""The linters at the versions of the lock file: style, layers, types, spelling, templates, lock files."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["lint-imports"],
        ["mypy", "."],
        [
            "codespell",
            "README.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "docs",
            "deploy",
            "diagnosis/prompts",
            "chat/prompts",
            "templates",
        ],
        ["djhtml", "--check", "templates"],
    ],
    ids=lambda command: " ".join(command),
)
def test_the_linters_find_nothing(command: list[str]) -> None:
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_dependency_is_pinned_by_hash_and_names_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    pinned = [line for line in text.splitlines() if "==" in line and not line.lstrip().startswith("#")]
    assert len(pinned) > 50
    assert all(line.endswith("\\") for line in pinned)
    assert "--hash=sha256:" in text
    assert "://" not in text
    assert "index-url" not in text


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_a_lock_pins_each_extra_that_a_package_asks_for(name: str) -> None:
    """pip looks past a pin without the extra for the newest release, and then refuses it for want of a hash."""
    pins = re.findall(r"^([\w.-]+(?:\[[\w, -]+\])?)==", (ROOT / name).read_text(), re.MULTILINE)
    pinned = {canonicalize_name(pin.name): pin.extras for pin in map(Requirement, pins)}
    missing = [
        f"{package} asks for {wanted.name}[{','.join(wanted.extras)}]"
        for package, extras in pinned.items()
        for wanted in map(Requirement, importlib.metadata.requires(package) or [])
        if wanted.extras - pinned.get(canonicalize_name(wanted.name), set())
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in {"", *extras})
    ]
    assert len(pinned) > 50
    assert missing == []


def test_no_migration_is_missing(services: object) -> None:
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
