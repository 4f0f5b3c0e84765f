"""MySQL's values as plain JSON: nothing is rounded, no zone is invented, NaN cannot occur.

DECIMAL stays text, exact. Dates are ISO 8601 as the server shows them, zero dates included. BIT is a number.
Text that is not valid UTF-8 gets U+FFFD; binary values become `{"binary": "0x…"}`.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from MySQLdb.constants import FIELD_TYPE, FLAG
from MySQLdb.converters import conversions

Cell: TypeAlias = str | int | float | dict[str, str] | None
"""One value of a raw response; a dict is a binary value."""
BINARY_KEY = "binary"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _ascii(value: bytes | str) -> str:
    """The driver hands DECIMAL over as text."""
    return value if isinstance(value, str) else value.decode("ascii", "replace")


def _number(value: bytes) -> float:
    return float(value)


def _bits(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _date_time(value: bytes) -> str:
    return _ascii(value).replace(" ", "T", 1)


def _binary(value: bytes) -> dict[str, str]:
    return {BINARY_KEY: f"0x{value.hex()}"}


_Reader: TypeAlias = Callable[[bytes], Cell]
_TEXT_OR_BINARY: list[tuple[int | None, _Reader]] = [(FLAG.BINARY, _binary), (None, _text)]
_READERS: dict[int, _Reader | list[tuple[int | None, _Reader]]] = {
    **dict.fromkeys(
        (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG, FIELD_TYPE.YEAR),
        int,
    ),
    FIELD_TYPE.FLOAT: _number,
    FIELD_TYPE.DOUBLE: _number,
    FIELD_TYPE.DECIMAL: _ascii,
    FIELD_TYPE.NEWDECIMAL: _ascii,
    FIELD_TYPE.DATE: _ascii,
    FIELD_TYPE.TIME: _ascii,
    FIELD_TYPE.DATETIME: _date_time,
    FIELD_TYPE.TIMESTAMP: _date_time,
    FIELD_TYPE.BIT: _bits,
    FIELD_TYPE.GEOMETRY: _binary,
    FIELD_TYPE.JSON: _text,
    **dict.fromkeys(
        (
            FIELD_TYPE.VARCHAR, FIELD_TYPE.VAR_STRING, FIELD_TYPE.STRING, FIELD_TYPE.ENUM, FIELD_TYPE.SET,
            FIELD_TYPE.TINY_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB, FIELD_TYPE.BLOB,
        ),
        _TEXT_OR_BINARY,
    ),
}  # fmt: skip

CONVERSIONS: Mapping[Any, Any] = {
    **{kind: writer for kind, writer in conversions.items() if not isinstance(kind, int)},
    **_READERS,
}
"""For the driver: how it writes parameters (its own way) and how it reads values (ours)."""
