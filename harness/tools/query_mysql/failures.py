"""What a MySQL error means for the agent. The server's own words stay out: they hold names and values."""

import MySQLdb

from harness.errors import ToolCallError, ToolErrorCode

_TIMEOUT = frozenset({1205, 1317, 1969, 3024})
_NO_GRANT = frozenset({1142, 1143, 1227, 1370})
_NOT_THERE = frozenset({1054, 1146, 1305, 1356})
_AWAY = frozenset(
    {1040, 1043, 1044, 1045, 1049, 1053, 1129, 1130, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1251, 1698, 1927}
)
_FIRST_CLIENT_ERROR, _LAST_CLIENT_ERROR = 2000, 2999


def explain(error: MySQLdb.Error) -> ToolCallError:
    """The error as the agent may see it."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if number in _TIMEOUT:
        return timed_out()
    if number in _NO_GRANT:
        return ToolCallError(
            ToolErrorCode.NOT_ALLOWED, "The data source's account may not read one of these columns; leave it out."
        )
    if number in _NOT_THERE:
        return ToolCallError(
            ToolErrorCode.NOT_ALLOWED, "The server has no such table or column, though it may be read; use another."
        )
    if number in _AWAY or _FIRST_CLIENT_ERROR <= number <= _LAST_CLIENT_ERROR or number == 0:
        return ToolCallError(ToolErrorCode.UNAVAILABLE, "The data source cannot be reached; try again later.")
    return ToolCallError(
        ToolErrorCode.INVALID_ARGUMENTS,
        f"MySQL cannot evaluate this statement (error {number}); check types, ranges and values.",
    )


def timed_out() -> ToolCallError:
    return ToolCallError(
        ToolErrorCode.TIMEOUT,
        "The query took too long and was ended; add conditions on indexed columns, or ask for less.",
    )
