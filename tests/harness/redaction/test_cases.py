import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.redaction import redact_text

DATA = Path(__file__).parents[2] / "data" / "redaction"
PIECE = 6


@dataclass(frozen=True)
class Case:
    id: str
    text: str
    kind: str
    secrets: list[str]
    keep: list[str] = field(default_factory=list)


def cases(name: str) -> list[Case]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    fields: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [case for case in (Case(**each) for each in fields) if case.kind != "email-optional"]


def leaks(secret: str, output: str) -> bool:
    """The whole secret, or any piece of it that is long enough to help a guesser."""
    pieces = {secret[at : at + PIECE] for at in range(len(secret) - PIECE + 1)} | {secret}
    return any(piece in output for piece in pieces)


ALL = [*cases("open.jsonl"), *cases("more.jsonl")]


@pytest.mark.parametrize("case", [case for case in ALL if case.secrets], ids=lambda case: case.id)
def test_a_secret_goes_and_the_rest_of_the_line_stays(case: Case) -> None:
    output = redact_text(case.text)
    assert [secret for secret in case.secrets if leaks(secret, output)] == []
    assert [kept for kept in case.keep if kept not in output] == []
    assert "[REDACTED:" in output


@pytest.mark.parametrize("case", [case for case in ALL if not case.secrets], ids=lambda case: case.id)
def test_a_clean_line_is_not_touched(case: Case) -> None:
    assert redact_text(case.text) == case.text


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_redacting_twice_changes_nothing_more(case: Case) -> None:
    once = redact_text(case.text)
    assert redact_text(once) == once


def test_all_lines_at_once_are_as_safe_as_one_by_one() -> None:
    block = "\n\n".join(case.text for case in ALL)
    clean = "\n".join(case.text for case in ALL if not case.secrets)  # some numbers are clean where others are not
    output = redact_text(block)
    secrets = {secret for case in ALL for secret in case.secrets if len(secret) >= 8 and secret not in clean}
    assert sorted(secret for secret in secrets if secret in output) == []
    assert output.count("\n") == block.count("\n")
