"""Opens connections to a data source: read only, with fixed modes, one statement a call."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import MySQLdb
from MySQLdb.connections import Connection

from harness.tools.query_mysql.config import DataSourceSettings
from harness.tools.query_mysql.values import CONVERSIONS

SQL_MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
"""Neither ANSI_QUOTES, NO_BACKSLASH_ESCAPES nor PIPES_AS_CONCAT: the guard reads statements under this mode."""
READ_MARGIN_SECONDS = 5
"""The socket gives up this long after the server should have: no thread hangs on a dead server."""


def open_connection(
    source: DataSourceSettings, connect_seconds: int, statement_seconds: float, sql_mode: str = SQL_MODE
) -> Connection:
    """Connect and prepare the session. Raise the driver's error; its text may hold the account's name."""
    parts = urlsplit(source.url.get_secret_value())
    options = dict(parse_qsl(parts.query))
    arguments: dict[str, Any] = {
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "charset": "utf8mb4",
        "use_unicode": False,
        "conv": CONVERSIONS,
        "sql_mode": sql_mode,
        "autocommit": True,
        "local_infile": 0,
        "multi_statements": False,
        "connect_timeout": connect_seconds,
        "read_timeout": int(statement_seconds) + READ_MARGIN_SECONDS,
        "write_timeout": connect_seconds,
    }
    if "unix_socket" in options:
        arguments["unix_socket"] = options["unix_socket"]
    else:
        arguments |= {"host": parts.hostname or "", "port": parts.port or 3306}
    if "ssl_ca" in options:
        arguments |= {"ssl_mode": "VERIFY_IDENTITY", "ssl": {"ca": options["ssl_ca"]}}
    connection = MySQLdb.connect(**arguments)
    try:
        for statement in _session(connection, statement_seconds):
            connection.query(statement)
    except MySQLdb.Error:
        connection.close()
        raise
    return connection


def _session(connection: Connection, statement_seconds: float) -> tuple[str, ...]:
    """MariaDB counts seconds, MySQL milliseconds."""
    if "MariaDB" in connection.get_server_info():
        limit = f"SET SESSION max_statement_time = {statement_seconds:.3f}"
    else:
        limit = f"SET SESSION max_execution_time = {max(1, round(statement_seconds * 1000))}"
    return "SET SESSION TRANSACTION READ ONLY", limit
