"""Readable source and scope of a cited call, in words that need no translation.

Names and field values stand as the tools return them, so that the same text serves the semantic review, the
report and the fallback in either language. No id of a call is in it. Source: 04-diagnosis, "Release".
"""

from enum import StrEnum
from typing import Any, Protocol

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

SEPARATOR = " · "
_MAX_SCOPE = 500


class SourceType(StrEnum):
    KNOWLEDGE = "KNOWLEDGE"
    LOG = "LOG"
    MYSQL = "MYSQL"


_TYPES = {
    "lookup_knowledge": SourceType.KNOWLEDGE,
    "query_logs": SourceType.LOG,
    "query_mysql": SourceType.MYSQL,
}


class SourceCall(Protocol):
    """What is read of a record whose `agent_result` was checked before."""

    @property
    def tool_name(self) -> str: ...

    @property
    def request(self) -> dict[str, Any]: ...

    @property
    def agent_result(self) -> dict[str, Any] | None: ...


def source_type(call: SourceCall) -> SourceType:
    return _TYPES[call.tool_name]


def result_of(call: SourceCall) -> dict[str, Any]:
    """The `agent_result`; empty if there is none, which EvidenceGuard refuses."""
    return call.agent_result or {}


def entries(result: dict[str, Any], name: str) -> list[Any]:
    """One of the lists of a result."""
    value = result.get(name)
    return value if isinstance(value, list) else []


def source_of(call: SourceCall) -> str:
    """Log topic (marked when simulated), data source, or KNOWLEDGE."""
    result = result_of(call)
    match source_type(call):
        case SourceType.LOG:
            topic = str(_scope(result).get("topic") or call.request.get("topic") or SourceType.LOG)
            return f"{topic} (MOCK)" if result.get("source_kind") == "MOCK" else topic
        case SourceType.MYSQL:
            return str(result.get("data_source") or call.request.get("data_source") or SourceType.MYSQL)
        case SourceType.KNOWLEDGE:
            return SourceType.KNOWLEDGE.value


def scope_of(call: SourceCall, *, counts: bool) -> str:
    """What was asked: query and window, tables and conditions, or query and documents.

    `counts` adds how much was found, which a claim such as "84 matches" rests on. At most 500 characters.
    """
    result = result_of(call)
    match source_type(call):
        case SourceType.LOG:
            scope = _scope(result)
            parts = [_quoted(scope.get("query")), _window(scope)]
            names: tuple[str, ...] = ("match_count", "returned_count", "truncated")
        case SourceType.MYSQL:
            parts = _statement(result, call.request)
            names = ("returned_count", "truncated")
        case SourceType.KNOWLEDGE:
            titles = dict.fromkeys(str(each.get("title", "")) for each in entries(result, "evidence"))
            parts = [_quoted(result.get("query")), ", ".join(title for title in titles if title)]
            names = ("returned_count", "truncated")
    if counts:
        parts += [f"{name}={str(result[name]).lower()}" for name in names if name in result]
    return SEPARATOR.join(part for part in parts if part)[:_MAX_SCOPE]


def _scope(result: dict[str, Any]) -> dict[str, Any]:
    scope = result.get("scope")
    return scope if isinstance(scope, dict) else {}


def _quoted(query: object) -> str:
    return f"“{query}”" if query else ""


def _window(scope: dict[str, Any]) -> str:
    start, end = scope.get("start_time"), scope.get("end_time")
    return f"{start} – {end}" if start and end else ""


def _statement(result: dict[str, Any], request: dict[str, Any]) -> list[str]:
    """Tables and conditions; literals are replaced, so that no value of a person is shown.

    A result without rows brings them along; else they are read from the statement that the guard has proved.
    """
    scope = _scope(result)
    if scope:
        return [", ".join(map(str, entries(scope, "tables"))), "; ".join(map(str, entries(scope, "conditions")))]
    try:
        tree = sqlglot.parse_one(str(request.get("sql", "")), read="mysql")
    except SqlglotError:  # the source alone is still true
        return []
    found = [exp.table_(table.name, db=table.db or None) for table in tree.find_all(exp.Table)]
    tables = dict.fromkeys(table.sql(dialect="mysql") for table in found)
    for literal in list(tree.find_all(exp.Literal)):
        literal.replace(exp.Placeholder())
    clauses = [tree.args.get(name) for name in ("where", "group", "having")]
    return [", ".join(tables), *(clause.sql(dialect="mysql").strip() for clause in clauses if clause is not None)]
