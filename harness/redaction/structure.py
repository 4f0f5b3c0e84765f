"""Redaction of nested JSON, where names are known and need no parsing."""

from typing import Any, TypeAlias, overload

from harness.redaction.labels import Label, label_of
from harness.redaction.plausible import is_secret
from harness.redaction.spans import mask
from harness.redaction.text import redact_text

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


@overload
def redact_value(value: dict[str, Any]) -> dict[str, Any]: ...


@overload
def redact_value(value: Json) -> Json: ...


def redact_value(value: Json) -> Json:
    """A copy of `value` with every secret masked, also by the name that it stands under and in the names themselves.

    Numbers keep their type unless their name makes them secret. Nesting is bounded by what a JSON parser takes.
    """
    return _redact(value, None, "")


def _redact(value: Json, label: Label | None, name: str) -> Json:
    if isinstance(value, dict):
        return _redact_object(value)
    if isinstance(value, list):
        return [_redact(item, label, name) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    text = value if isinstance(value, str) else str(value)
    if label is not None and is_secret(text, label, name, quoted=True, prose=False):
        return mask(label.kind)
    redacted = redact_text(text)
    return value if redacted == text else redacted


def _redact_object(value: "dict[str, Json]") -> "dict[str, Json]":
    redacted: dict[str, Json] = {}
    named = value.get("name", value.get("key"))  # {"name": "DB_PASSWORD", "value": "..."}
    for key, item in value.items():
        name = named if key.lower() == "value" and isinstance(named, str) else key
        unique = key_text = redact_text(key)
        number = 2
        while unique in redacted:
            unique = f"{key_text} ({number})"
            number += 1
        redacted[unique] = _redact(item, _label(name), name)
    return redacted


def _label(name: str) -> Label | None:
    return label_of(name[-100:])
