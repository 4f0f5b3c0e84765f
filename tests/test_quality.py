"""The linters at the versions of the lock file: style, layers, types, spelling, templates, lock files."""

import subprocess
import sys
from pathlib import Path

import pytest

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


def test_no_migration_is_missing(services: object) -> None:
    command = [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
