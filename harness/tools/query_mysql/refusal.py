"""How the guard says no: a stable code for machines, a sentence for the agent."""

from enum import StrEnum
from typing import NoReturn


class RefusalCode(StrEnum):
    """Why a statement was refused. Source: 03-tools, "query_mysql"."""

    TOO_LONG = "TOO_LONG"
    TOO_COMPLEX = "TOO_COMPLEX"
    CHARACTER = "CHARACTER"
    COMMENT = "COMMENT"
    HINT = "HINT"
    SYNTAX = "SYNTAX"
    STATEMENT = "STATEMENT"
    MULTIPLE_STATEMENTS = "MULTIPLE_STATEMENTS"
    KEYWORD = "KEYWORD"
    WITH = "WITH"
    SUBQUERY = "SUBQUERY"
    UNION = "UNION"
    WINDOW = "WINDOW"
    INTO = "INTO"
    LOCK = "LOCK"
    VARIABLE = "VARIABLE"
    OPERATOR = "OPERATOR"
    LITERAL = "LITERAL"
    PRECEDENCE = "PRECEDENCE"
    FUNCTION = "FUNCTION"
    AGGREGATE = "AGGREGATE"
    INTERVAL = "INTERVAL"
    WILDCARD = "WILDCARD"
    TABLE = "TABLE"
    JOIN = "JOIN"
    COLUMN = "COLUMN"
    AMBIGUOUS = "AMBIGUOUS"
    ALIAS = "ALIAS"
    LIMIT = "LIMIT"
    PARAMS = "PARAMS"
    UNSUPPORTED = "UNSUPPORTED"


class StatementRefusedError(Exception):
    """The statement could not be proved. `message` names the offending part and what to write instead."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


def refuse(code: RefusalCode, message: str) -> NoReturn:
    """Raise `StatementRefusedError`."""
    raise StatementRefusedError(code, message)


def quoted(text: str) -> str:
    """A piece of the agent's statement for a message: one line, at most 60 characters, nothing unprintable."""
    shown = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in " ".join(text.split()))
    return f"`{shown[:59]}…`" if len(shown) > 60 else f"`{shown}`"
