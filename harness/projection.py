"""The last cut of an `agent_result`: whatever a tool projects, it stays within the byte limit."""

import json
from typing import Any

from harness.tools.base import JsonObject

_LISTS = ("events", "patterns", "rows", "evidence")
_COUNTED = ("events", "rows", "evidence")


def fit_agent_result(result: JsonObject, max_bytes: int) -> JsonObject:
    """Drop entries from the end of the largest list until the result fits, and say `truncated`.

    `returned_count` follows the list that it counts. Raises ValueError when even empty lists do not fit.
    """
    size = _size(result)
    if size <= max_bytes:
        return result
    fitted: dict[str, Any] = {**result, "truncated": True}
    size = _size(fitted)
    sizes = {
        name: [_size(entry) + 2 for entry in fitted[name]] for name in _LISTS if isinstance(fitted.get(name), list)
    }
    for name in sizes:
        fitted[name] = list(fitted[name])
    while size > max_bytes:
        largest = max(sizes, key=lambda name: sum(sizes[name]), default=None)
        if largest is None or not sizes[largest]:
            raise ValueError("the result does not fit even without its lists")
        size -= sizes[largest].pop()
        fitted[largest].pop()
    for name in _COUNTED:
        if name in sizes and "returned_count" in fitted:
            fitted["returned_count"] = len(fitted[name])
    return fitted


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
