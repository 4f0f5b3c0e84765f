"""Compares what a data source's account may do with what the allowlist lets it read."""

import re

from harness.tools.query_mysql.config import DataSourceSettings
from harness.tools.query_mysql.connection import open_connection

_GRANT = re.compile(r"GRANT (?P<rights>.+?) ON (?:TABLE )?(?P<object>\S+) TO ", re.DOTALL)
_ROLE = re.compile(r"GRANT (?P<role>[`'].+?) TO ")
_SELECT = re.compile(r"SELECT \((?P<columns>[^)]*)\)")
_OBJECT = re.compile(r"`(?P<schema>(?:[^`]|``)+)`\.`(?P<table>(?:[^`]|``)+)`")
_SECONDS = 5


def excess_grants(source: DataSourceSettings) -> list[str]:
    """What the account may do beyond reading the allowed columns, as sentences. Empty: exactly the allowlist.

    Connects to the data source. Raises `MySQLdb.Error` when that fails.
    """
    connection = open_connection(source, _SECONDS, _SECONDS)
    try:
        connection.query("SHOW GRANTS")
        rows = connection.store_result().fetch_row(maxrows=0)
    finally:
        connection.close()
    return [problem for (line,) in rows for problem in _problems(str(line), source)]


def _problems(line: str, source: DataSourceSettings) -> list[str]:
    found = _GRANT.match(line)
    if found is None:
        role = _ROLE.match(line)
        return [f"has the role {role['role']}: give it the column grants themselves"] if role else []
    rights, place = found["rights"], found["object"]
    if rights == "USAGE":
        return []
    place_name = place.replace("`", "")
    where = _OBJECT.fullmatch(place)
    schema = source.allowed_schemas.get(where["schema"].replace("``", "`")) if where else None
    table = schema.tables.get(where["table"].replace("``", "`")) if where and schema else None
    if table is None:
        return [f"may {_shown(rights)} on {place_name}, which the allowlist does not name"]
    problems = []
    allowed = {column.lower() for column in table.columns}
    for right in re.split(r", (?=[A-Z])(?![^(]*\))", rights):
        columns = _SELECT.fullmatch(right)
        if columns is None:
            hint = "; grant SELECT on the allowed columns only" if right == "SELECT" else ""
            problems.append(f"may {_shown(right)} on all of {place_name}{hint}")
            continue
        granted = [column.strip().strip("`") for column in columns["columns"].split(",")]
        extra = [column for column in granted if column.lower() not in allowed]
        if extra:
            problems.append(f"may read the columns {', '.join(extra)} of {place_name}")
    return problems


def _shown(rights: str) -> str:
    return re.sub(r"\s*\([^)]*\)", "", rights)
