"""JSON from a model, read strictly: one object, no repeated keys, no NaN, no over-deep nesting."""

import json
from typing import Any, NoReturn


class StrictJsonError(ValueError):
    """The text is not one plain JSON object. The message names the fault and holds nothing of the text."""


def loads_object(text: str) -> dict[str, Any]:
    """Parse one JSON object. Raises `StrictJsonError`."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except StrictJsonError:
        raise
    except RecursionError:
        raise StrictJsonError("it is nested too deeply") from None
    except ValueError:
        raise StrictJsonError("it is not valid JSON") from None
    if not isinstance(value, dict):
        raise StrictJsonError("it is not an object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise StrictJsonError("a key occurs twice")
    return values


def _no_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is not a JSON number")
