"""The functions that an allowlist may name, with what MariaDB takes for a call of each.

Only plain scalar functions and aggregates are here: nothing that waits, locks, reads files, changes
anything, builds huge strings or tells about the server. The configuration may name these and no others.
"""

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Spelling(Enum):
    """How the name may stand before its parenthesis (tried on MariaDB 10.11 without IGNORE_SPACE)."""

    TIGHT = 1  # directly before it: `COUNT (x)` would be a stored function
    KEYWORD = 2  # blanks are free, but in backticks it would be a stored function
    NATIVE = 3  # blanks and backticks are free


class Shape(Enum):
    """What its arguments look like beyond plain expressions."""

    SCALAR = 1
    AGGREGATE = 2  # takes DISTINCT; COUNT also takes `*`
    DATE_SHIFT = 3  # the second argument is an INTERVAL
    UNIT_FIRST = 4  # the first argument is the name of a unit
    PRECISION = 5  # an optional whole number from 0 to 6


@dataclass(frozen=True, slots=True)
class Function:
    """One function: how many arguments it takes (`most` None: no bound) and of which shape."""

    name: str
    least: int
    most: int | None
    spelling: Spelling = Spelling.NATIVE
    shape: Shape = Shape.SCALAR


def _catalogue() -> dict[str, Function]:
    functions: list[Function] = []
    for name in (
        "COUNT", "SUM", "MIN", "MAX", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP",
        "GROUP_CONCAT",
    ):  # fmt: skip
        most = None if name == "GROUP_CONCAT" else 1
        functions.append(Function(name, 1, most, Spelling.TIGHT, Shape.AGGREGATE))
    functions.append(Function("AVG", 1, 1, Spelling.KEYWORD, Shape.AGGREGATE))
    functions.append(Function("NOW", 0, 1, Spelling.TIGHT, Shape.PRECISION))
    functions.append(Function("DATE_ADD", 2, 2, Spelling.TIGHT, Shape.DATE_SHIFT))
    functions.append(Function("DATE_SUB", 2, 2, Spelling.TIGHT, Shape.DATE_SHIFT))
    functions.append(Function("TIMESTAMPDIFF", 3, 3, Spelling.KEYWORD, Shape.UNIT_FIRST))
    for name, least, most in (
        ("CURDATE", 0, 0), ("SUBSTRING", 2, 3), ("SUBSTR", 2, 3), ("MID", 3, 3), ("TRIM", 1, 1),
    ):  # fmt: skip
        functions.append(Function(name, least, most, Spelling.TIGHT))
    for name, least, most in (
        ("DATE", 1, 1), ("TIME", 1, 1), ("YEAR", 1, 1), ("MONTH", 1, 1), ("DAY", 1, 1), ("HOUR", 1, 1),
        ("MINUTE", 1, 1), ("SECOND", 1, 1), ("IF", 3, 3), ("LEFT", 2, 2), ("RIGHT", 2, 2), ("REPLACE", 3, 3),
        ("TRUNCATE", 2, 2),
    ):  # fmt: skip
        functions.append(Function(name, least, most, Spelling.KEYWORD))
    for name, least, most in (
        ("ABS", 1, 1), ("CEIL", 1, 1), ("CEILING", 1, 1), ("CHAR_LENGTH", 1, 1), ("CHARACTER_LENGTH", 1, 1),
        ("COALESCE", 1, None), ("CONCAT", 1, None), ("CONCAT_WS", 2, None), ("DATE_FORMAT", 2, 2),
        ("DATEDIFF", 2, 2), ("DAYNAME", 1, 1), ("DAYOFMONTH", 1, 1), ("DAYOFWEEK", 1, 1), ("DAYOFYEAR", 1, 1),
        ("FIELD", 2, None), ("FIND_IN_SET", 2, 2), ("FLOOR", 1, 1), ("FROM_UNIXTIME", 1, 2), ("GREATEST", 2, None),
        ("IFNULL", 2, 2), ("INSTR", 2, 2), ("ISNULL", 1, 1), ("JSON_EXTRACT", 2, None), ("JSON_LENGTH", 1, 2),
        ("JSON_UNQUOTE", 1, 1), ("JSON_VALUE", 2, 2), ("LAST_DAY", 1, 1), ("LCASE", 1, 1), ("LEAST", 2, None),
        ("LENGTH", 1, 1), ("LOCATE", 2, 3), ("LOWER", 1, 1), ("LTRIM", 1, 1), ("MICROSECOND", 1, 1), ("MOD", 2, 2),
        ("MONTHNAME", 1, 1), ("NULLIF", 2, 2), ("POW", 2, 2), ("POWER", 2, 2), ("QUARTER", 1, 1), ("REVERSE", 1, 1),
        ("ROUND", 1, 2), ("RTRIM", 1, 1), ("SEC_TO_TIME", 1, 1), ("SIGN", 1, 1), ("SQRT", 1, 1),
        ("STR_TO_DATE", 2, 2), ("SUBSTRING_INDEX", 3, 3), ("TIMEDIFF", 2, 2), ("TIME_FORMAT", 2, 2),
        ("TIME_TO_SEC", 1, 1), ("TO_DAYS", 1, 1), ("UCASE", 1, 1), ("UNIX_TIMESTAMP", 0, 1), ("UPPER", 1, 1),
        ("WEEK", 1, 2), ("WEEKDAY", 1, 1),
    ):  # fmt: skip
        functions.append(Function(name, least, most))
    return {function.name: function for function in functions}


CATALOGUE = MappingProxyType(_catalogue())

DEFAULT_FUNCTIONS = (
    "COUNT", "SUM", "AVG", "MIN", "MAX", "DATE", "HOUR", "DATE_FORMAT", "COALESCE", "IFNULL", "ROUND", "LOWER",
    "UPPER", "LENGTH", "CONCAT", "NOW", "TIMESTAMPDIFF", "DATE_SUB", "DATE_ADD",
)  # fmt: skip
"""Source: 03-tools, "query_mysql"."""
