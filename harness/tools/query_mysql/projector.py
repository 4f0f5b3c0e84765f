"""What the agent sees of a result: bounded, masked, and saying so when something is missing."""

import json
from typing import Any

from harness.redaction import redact_value
from harness.tools.base import EvidenceStatus, JsonObject
from harness.tools.query_mysql.config import MysqlToolsSettings
from harness.tools.query_mysql.values import BINARY_KEY

MASK = "[REDACTED:column]"
CUT = "… [cut: {} characters]"
BINARY_BYTES = 32
"""A binary value as the agent sees it; longer is cut and marked (bytes)."""
MASK_AHEAD = 4_096
"""How far behind the cut a value is still read for masking: a secret that begins before the cut ends by then."""
_SMALLER_CELLS = (120, 30, 8)


def project(raw: JsonObject, tool_call_id: str, settings: MysqlToolsSettings) -> JsonObject:
    """The `agent_result` of a raw response. Deterministic.

    Values are masked first and cut afterwards, so that no cut leaves half a secret. Rows that no longer fit
    are left out from the end; if not even the first fits, its values are cut shorter.
    """
    masked = [column["redacted"] for column in raw["columns"]]
    names = list(redact_value(dict.fromkeys((column["name"] for column in raw["columns"]), None)))
    rows: list[list[Any]] = raw["rows"]
    result: JsonObject = {
        "evidence_status": (EvidenceStatus.EVIDENCE_FOUND if rows else EvidenceStatus.NO_EVIDENCE).value,
        "tool_call_id": tool_call_id,
        "data_source": raw["data_source"],
        "columns": names,
        "rows": [],
        "returned_count": 0,
        "truncated": bool(raw["truncated"]),
    }
    if not rows:
        result["scope"] = raw["scope"]
        return result
    room = settings.max_result_bytes - _bytes(result) - len("00000")  # the count grows by so many digits at most
    for most in (settings.max_cell_chars, *_SMALLER_CELLS):
        shown, cut = _fitting_rows(names, masked, rows, most, room)
        if shown:
            result["rows"] = shown
            result["truncated"] = result["truncated"] or cut or len(shown) < len(rows)
            break
    else:
        result["truncated"] = True
    result["returned_count"] = len(result["rows"])
    return result


def _masked_row(names: list[str], masked: list[bool], row: list[Any], most: int) -> dict[str, Any]:
    hidden = {name for name, of_column in zip(names, masked, strict=True) if of_column}
    found = dict(zip(names, row, strict=True))
    binary = {name: cell for name, cell in found.items() if isinstance(cell, dict)}
    plain = redact_value(
        {
            name: None
            if name in hidden or name in binary
            else cell[: most + MASK_AHEAD]
            if isinstance(cell, str)
            else cell
            for name, cell in found.items()
        }
    )
    return {
        name: MASK if name in hidden and found[name] is not None else binary.get(name, cell)
        for name, cell in zip(names, plain.values(), strict=True)
    }


def _fitting_rows(
    names: list[str], masked: list[bool], rows: list[list[Any]], most: int, room: int
) -> tuple[list[dict[str, Any]], bool]:
    """The first rows that fit into `room` bytes with values of at most `most` characters; whether a value was cut."""
    shown: list[dict[str, Any]] = []
    any_cut = False
    for row in rows:
        lengths = [len(cell) if isinstance(cell, str) else 0 for cell in row]
        cells = [
            _cell(cell, most, length)
            for cell, length in zip(_masked_row(names, masked, row, most).values(), lengths, strict=True)
        ]
        projected = {name: cell for name, (cell, _) in zip(names, cells, strict=True)}
        room -= _bytes(projected) + 2
        if room < 0:
            break
        shown.append(projected)
        any_cut = any_cut or any(cut for _, cut in cells)
    return shown, any_cut


def _cell(cell: Any, most: int, length: int) -> tuple[Any, bool]:
    if isinstance(cell, dict):
        digits = cell[BINARY_KEY]
        size = (len(digits) - 2) // 2
        kept = min(BINARY_BYTES, most // 2)
        cut = size > kept
        return f"[binary: {size} bytes] {digits[: 2 + 2 * kept]}{'…' if cut else ''}", cut
    if isinstance(cell, str) and (len(cell) > most or length > most + MASK_AHEAD):
        return cell[:most] + CUT.format(length), True
    return cell, False


def _bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
