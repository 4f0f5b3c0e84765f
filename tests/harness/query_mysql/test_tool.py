"""The tool as the boundary sees it: arguments, summary, normalisation, refusals."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.query_mysql.config import MysqlToolsSettings
from harness.tools.query_mysql.tool import MysqlTool
from tests.harness.query_mysql.conftest import SettingsFactory
from tests.harness.runs import run_context


@pytest.fixture
async def tool(settings_for: SettingsFactory) -> AsyncIterator[MysqlTool]:
    made = MysqlTool(settings_for("mysql://nobody:x@127.0.0.1:1"), 10)
    yield made
    await made.close()


def call(tool: MysqlTool, sql: str, *params: Any) -> Any:
    return tool.arguments.model_validate_json(
        tool.arguments(data_source="order-db", sql=sql, params=list(params)).model_dump_json()
    )


async def test_the_schema_names_the_data_sources(tool: MysqlTool) -> None:
    schema = tool.arguments.model_json_schema()
    assert schema["properties"]["data_source"]["const" if "const" in str(schema) else "enum"] in (
        "order-db",
        ["order-db"],
    )
    assert schema["additionalProperties"] is False
    assert "orders(id, order_no" in tool.description


@pytest.mark.parametrize(
    "arguments",
    [
        '{"data_source": "other", "sql": "SELECT 1"}',
        '{"data_source": "order-db"}',
        '{"data_source": "order-db", "sql": ""}',
        '{"data_source": "order-db", "sql": "SELECT 1", "limit": 5}',
        '{"data_source": "order-db", "sql": "SELECT 1", "params": [[1]]}',
        '{"data_source": "order-db", "sql": "SELECT 1", "params": [NaN]}',
        '{"data_source": "order-db", "sql": "SELECT 1", "params": [1e999]}',
        '{"data_source": "order-db", "sql": "SELECT 1", "params": [99999999999999999999]}',
        '{"data_source": "order-db", "sql": "SELECT 1", "params": "x"}',
        '{"data_source": "order-db", "sql": 5}',
    ],
)
async def test_arguments_outside_the_schema_are_refused(arguments: str, tool: MysqlTool) -> None:
    with pytest.raises(ValidationError):
        tool.arguments.model_validate_json(arguments)


async def test_parameters_keep_their_types(tool: MysqlTool) -> None:
    found = tool.arguments.model_validate_json(
        '{"data_source": "order-db", "sql": "x", "params": ["1", 1, 1.0, true, null, 18446744073709551615]}'
    )
    assert [type(value) for value in found.params] == [str, int, float, bool, type(None), int]


async def test_a_refusal_reaches_the_agent_with_its_hint(tool: MysqlTool) -> None:
    ctx, _ = run_context()
    with pytest.raises(ToolCallError) as refused:
        await tool.run(ctx, call(tool, "SELECT phone FROM users"))
    assert refused.value.code is ToolErrorCode.NOT_ALLOWED
    assert "`phone`" in refused.value.hint
    assert "id, name, city" in refused.value.hint


async def test_the_summary_holds_names_and_no_values(tool: MysqlTool) -> None:
    arguments = call(tool, "SELECT order_no FROM orders WHERE status = 'canary' AND user_id = ?", 7)
    summary = tool.summarize(arguments, {"returned_count": 3, "truncated": False})
    assert summary.tables == ["shop.orders"]
    assert summary.columns == ["shop.orders.order_no", "shop.orders.status", "shop.orders.user_id"]
    assert (summary.data_source, summary.parameter_count, summary.returned_count) == ("order-db", 1, 3)
    assert "canary" not in summary.model_dump_json()


async def test_the_fingerprint_ignores_values_and_spelling(tool: MysqlTool) -> None:
    def fingerprint(sql: str, *params: Any) -> str | None:
        return tool.summarize(call(tool, sql, *params), None).fingerprint

    first = fingerprint("SELECT id FROM orders WHERE status = 'a' LIMIT 5")
    assert first == fingerprint("select `id` from shop.orders where STATUS=? limit 7", "b")
    assert first != fingerprint("SELECT id FROM orders WHERE order_no = 'a' LIMIT 5")
    assert first is not None
    assert len(first) == 16


async def test_a_refused_call_has_a_summary_without_names(tool: MysqlTool) -> None:
    summary = tool.summarize(call(tool, "SELECT canary FROM secrets WHERE x = ?", "canary"), None)
    assert (summary.tables, summary.fingerprint, summary.parameter_count) == ([], None, 1)


async def test_a_summary_stays_small(settings_for: SettingsFactory) -> None:
    names = [f"a_rather_long_column_name_{number}" for number in range(90)]
    tool = MysqlTool(settings_for("mysql://nobody:x@127.0.0.1:1", {"wide": {"columns": names}}), 10)
    summary = tool.summarize(call(tool, f"SELECT {', '.join(names)} FROM wide"), None)
    assert len(summary.model_dump_json()) <= 2_048
    await tool.close()


async def test_calls_that_ask_the_same_are_normalised_alike(tool: MysqlTool) -> None:
    one = tool.normalise(call(tool, "SELECT id FROM orders WHERE status = ?", "PAID"))
    assert one == tool.normalise(call(tool, "select id\nfrom `orders` -- again\nwhere status = ?;", "PAID"))
    assert one != tool.normalise(call(tool, "SELECT id FROM orders WHERE status = ?", "FAILED"))


async def test_without_data_sources_every_call_is_refused() -> None:
    tool = MysqlTool(MysqlToolsSettings(), 10)
    ctx, _ = run_context()
    with pytest.raises(ToolCallError) as refused:
        await tool.run(ctx, tool.arguments(data_source="x", sql="SELECT 1"))
    assert refused.value.code is ToolErrorCode.NOT_ALLOWED
    await tool.close()
