"""The diagnosis plan that an agent may put beside its first tool calls."""

import json
import re
from collections.abc import Iterator, Sequence

from harness.boundary import WireToolCall
from harness.redaction import redact_text

_STEP = re.compile(r"\s*\d{1,2}[.、)]\s*(\S.*?)\s*")
_SQL = re.compile(
    r"\b(select|insert|update|delete|drop|alter|truncate)\b.*\b(from|into|set|table)\b|\bwhere\b.*[=<>]|[{}`;]|\?\s*=|=\s*\?",
    re.IGNORECASE,
)
_MIN_STEPS, _MAX_STEPS, _MAX_CHARACTERS = 3, 5, 120
_MIN_ARGUMENT_CHARACTERS = 12  # shorter arguments are words that a plan may well use


def read_plan(text: str | None, calls: Sequence[WireToolCall]) -> list[str]:
    """The steps after a line `PLAN:`, or an empty list when they do not fit.

    Fits: 3 to 5 steps of at most 120 characters, without SQL, secrets or the arguments of the calls.
    Source: 04-diagnosis, "The agent".
    """
    steps = list(_steps(text or ""))
    if not _MIN_STEPS <= len(steps) <= _MAX_STEPS:
        return []
    arguments = {value for call in calls for value in _texts(call.arguments)}
    for step in steps:
        if len(step) > _MAX_CHARACTERS or _SQL.search(step) or redact_text(step) != step or not step.isprintable():
            return []
        if any(argument in step for argument in arguments):
            return []
    return steps


def _steps(text: str) -> Iterator[str]:
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip() in {"PLAN:", "PLAN："}:
            break
    for line in lines:
        found = _STEP.fullmatch(line)
        if found:
            yield found[1]
        elif line.strip():
            return


def _texts(arguments: str) -> Iterator[str]:
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    for value in values.values() if isinstance(values, dict) else ():
        if isinstance(value, str) and len(value) >= _MIN_ARGUMENT_CHARACTERS:
            yield value
