"""query_mysql: the tool as the boundary calls it."""

import asyncio
import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, create_model

from harness.context import RunContext
from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.base import JsonObject, StrictModel
from harness.tools.query_mysql.config import MysqlToolsSettings
from harness.tools.query_mysql.executor import DataSourcePool
from harness.tools.query_mysql.failures import timed_out
from harness.tools.query_mysql.guard import ProvedStatement, prove
from harness.tools.query_mysql.policy import Policy, shortened
from harness.tools.query_mysql.projector import project
from harness.tools.query_mysql.refusal import StatementRefusedError
from harness.tools.summary import ToolSummary

Integer = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]


def _no_integer(value: object) -> object:
    """A whole number beyond 64 bits must not become a rounded one."""
    if isinstance(value, int):
        raise ValueError("a whole number needs 64 bits at most")
    return value


Number = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_no_integer)]
Value = Annotated[str, Field(max_length=10_000)] | Integer | Number | bool | None

KEPT_PROOFS = 32
SUMMARY_CHARS = 600
"""Table names, and column names, of a summary: together they stay under its 2 KiB (characters each)."""
_DESCRIPTION = """\
Reads current rows of a business database with one SELECT. Use it for the live state of orders, payments and the \
like; not for logs and not for documents. Write explicit columns, INNER or LEFT JOIN with ON, WHERE, GROUP BY, \
HAVING, ORDER BY and LIMIT, with `?` for each value and the values in params. No `*`, subqueries, WITH, UNION or \
window functions. Allowed functions: {functions}. At most {rows} rows come back.
What may be read:
{sources}"""
_MAX_DESCRIPTION_CHARS = 6_000


class QueryMysqlArguments(StrictModel):
    """What the agent sends. The enum of data sources comes from the configuration."""

    data_source: str = Field(description="Which database to read.")
    sql: str = Field(min_length=1, description="One SELECT statement with `?` for each value.")
    params: list[Value] = Field(
        default=[], max_length=1_000, description="The values of the placeholders, in their order."
    )


class MysqlTool:
    """Proves each statement, runs it on the data source, shows a bounded, masked result."""

    name: ClassVar[str] = "query_mysql"

    def __init__(self, settings: MysqlToolsSettings, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        self._settings = settings
        self._policies = {name: Policy.build(source, settings) for name, source in settings.data_sources.items()}
        self._pools = {
            name: DataSourcePool(name, source, settings, timeout_seconds)
            for name, source in settings.data_sources.items()
        }
        self._proofs: dict[str, ProvedStatement | StatementRefusedError] = {}
        self.arguments = _arguments(tuple(settings.data_sources))
        self.description = _describe(self._policies, settings)

    async def run(self, ctx: RunContext, arguments: QueryMysqlArguments) -> JsonObject:
        """The raw response: columns, rows with whole values, whether more rows were there, and the scope."""
        statement = self._prove(arguments)
        seconds = min(self.timeout_seconds, ctx.deadline.remaining())
        try:
            async with asyncio.timeout(seconds):
                found = await self._pools[arguments.data_source].fetch(statement, self._settings.max_rows)
        except TimeoutError:
            raise timed_out() from None
        return {
            "data_source": arguments.data_source,
            "columns": [{"name": output.name, "redacted": output.redacted} for output in statement.outputs],
            "rows": found.rows,
            "truncated": found.more,
            "scope": {"tables": list(statement.tables), "conditions": list(statement.conditions)},
        }

    def project(self, raw: JsonObject, arguments: QueryMysqlArguments, tool_call_id: str) -> JsonObject:
        return project(raw, tool_call_id, self._settings)

    def summarize(self, arguments: QueryMysqlArguments, agent_result: JsonObject | None) -> ToolSummary:
        facts: dict[str, Any] = {"data_source": arguments.data_source, "parameter_count": len(arguments.params)}
        try:
            statement = self._prove(arguments)
        except ToolCallError:
            pass  # a refused statement reads nothing that could be named
        else:
            facts |= {
                "tables": _within(statement.tables),
                "columns": _within(statement.columns),
                "fingerprint": statement.fingerprint,
            }
        if agent_result is not None:
            facts |= {key: agent_result.get(key) for key in ("returned_count", "truncated")}
        return ToolSummary(**facts)

    def normalise(self, arguments: QueryMysqlArguments) -> str:
        """The statement as it would run, so that spelling makes no difference; a refused one as it was written."""
        try:
            statement = self._prove(arguments)
        except ToolCallError:
            return json.dumps([arguments.data_source, arguments.sql, arguments.params])
        return json.dumps([arguments.data_source, statement.executed_sql, statement.params])

    async def close(self) -> None:
        """Close all connections. Statements that still run are waited for."""
        for pool in self._pools.values():
            await pool.close()

    def _prove(self, arguments: QueryMysqlArguments) -> ProvedStatement:
        """Prove once for each call: the boundary asks several times for what only the proof knows."""
        key = json.dumps([arguments.data_source, arguments.sql, arguments.params])
        if key not in self._proofs:
            while len(self._proofs) >= KEPT_PROOFS:
                del self._proofs[next(iter(self._proofs))]
            self._proofs[key] = self._prove_anew(arguments)
        proof = self._proofs[key]
        if isinstance(proof, StatementRefusedError):
            raise ToolCallError(ToolErrorCode.NOT_ALLOWED, f"{proof.code}: {proof.message}")
        return proof

    def _prove_anew(self, arguments: QueryMysqlArguments) -> ProvedStatement | StatementRefusedError:
        policy = self._policies.get(arguments.data_source)
        if policy is None:
            raise ToolCallError(ToolErrorCode.NOT_ALLOWED, "There is no such data source; do without this tool.")
        try:
            return prove(arguments.sql, arguments.params, policy)
        except StatementRefusedError as refused:
            return refused


def _arguments(names: tuple[str, ...]) -> type[QueryMysqlArguments]:
    if not names:
        return QueryMysqlArguments
    choice: Any = Literal[names]
    return create_model(
        "QueryMysqlArguments",
        __base__=QueryMysqlArguments,
        __doc__=QueryMysqlArguments.__doc__,
        data_source=(choice, Field(description="Which database to read.")),
    )


def _describe(policies: dict[str, Policy], settings: MysqlToolsSettings) -> str:
    lines = [
        f"- {name}: {table.name if table.schema == policy.default_schema else table.full_name}"
        f"({shortened(list(table.columns.values()), 60)})"
        for name, policy in policies.items()
        for table in policy.tables.values()
    ]
    text = _DESCRIPTION.format(
        functions=", ".join(settings.functions), rows=settings.max_rows, sources="\n".join(lines) or "- nothing yet"
    )
    if len(text) <= _MAX_DESCRIPTION_CHARS:
        return text
    return text[:_MAX_DESCRIPTION_CHARS].rsplit("\n", 1)[0] + "\n- and more, which refusals name"


def _within(names: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    room = SUMMARY_CHARS
    for name in names:
        room -= len(name.encode()) + 4
        if room < 0:
            break
        kept.append(name)
    return kept
