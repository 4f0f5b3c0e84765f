"""Keeps JSON that goes into the audit within its size."""

import json
from typing import Any

DETAILS_BYTES = 4096
SUMMARY_BYTES = 2048


def json_bytes(value: object) -> int:
    """Size of `value` as JSON in UTF-8, with the blanks that PostgreSQL writes."""
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))


def bounded(value: dict[str, Any], limit: int) -> dict[str, Any]:
    """`value` as it is, or its longest lists and texts halved until it fits, with `"cut": true` added.

    The same input always gives the same output. NUL, which PostgreSQL cannot store, becomes U+FFFD.
    """
    kept: dict[str, Any] = storable(value)
    if json_bytes(kept) <= limit:
        return kept
    kept["cut"] = True
    while json_bytes(kept) > limit:
        name = max((name for name in kept if name != "cut"), key=lambda name: json_bytes(kept[name]))
        part = kept[name]
        if isinstance(part, (str, list)) and len(part) > 1:
            kept[name] = part[: len(part) // 2]
        else:
            del kept[name]
    return kept


def short(text: str, length: int) -> str:
    """The beginning of `text`, fit for a text column of `length` characters."""
    return str(storable(text))[:length]


def storable(value: Any) -> Any:
    """JSON without what PostgreSQL's `text` and `jsonb` refuse: NUL and lone surrogates."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode(errors="replace").decode()
    if isinstance(value, dict):
        return {storable(name): storable(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(part) for part in value]
    return value
