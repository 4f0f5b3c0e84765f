"""Turns proved fragments into text: the statement to run, the same for the driver, and without literals.

While a statement is proved, each literal and placeholder is a mark in the fragment (a control character,
its number, the same character again). No name or operator can hold one, so filling in is exact.
"""

import hashlib
import re
from collections.abc import Sequence

LITERAL, PARAM = "\x01", "\x02"
_MARK = re.compile(r"([\x01\x02])(\d+)\1")
_PLAIN_NAME = re.compile(r"`([A-Za-z_][0-9A-Za-z_]*)`")


def name(text: str) -> str:
    """A quoted name."""
    return "`" + text.replace("`", "``") + "`"


def string(text: str) -> str:
    """A string literal that ends at the same place whether or not the server takes backslash escapes.

    Quotes are doubled, never escaped, and backslashes come in pairs.
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0") + "'"


def mark(kind: str, number: int) -> str:
    return f"{kind}{number}{kind}"


def statement(fragment: str, literals: Sequence[str]) -> tuple[str, list[int]]:
    """The statement with `?` for each parameter, and which parameter each of them is."""
    order: list[int] = []

    def fill(found: re.Match[str]) -> str:
        number = int(found[2])
        if found[1] == LITERAL:
            return literals[number]
        order.append(number)
        return "?"

    return _MARK.sub(fill, fragment), order


def for_driver(fragment: str, literals: Sequence[str]) -> str:
    """The statement with `%s` for each parameter; the driver binds on the client and reads `%` otherwise."""
    return _MARK.sub(
        lambda found: literals[int(found[2])].replace("%", "%%") if found[1] == LITERAL else "%s",
        fragment.replace("%", "%%"),
    )


def without_literals(fragment: str) -> str:
    """The fragment with `?` for each literal and parameter, names unquoted where that is readable."""
    return _PLAIN_NAME.sub(r"\1", _MARK.sub("?", fragment))


def fingerprint(fragment: str) -> str:
    """SHA-256 of the statement without literals, 16 hex digits."""
    return hashlib.sha256(without_literals(fragment).encode()).hexdigest()[:16]
