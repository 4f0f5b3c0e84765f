"""Running statements on a real MariaDB: limits, types, KILL, failures and recovery."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.query_mysql.connection import open_connection
from harness.tools.query_mysql.tool import MysqlTool
from tests.harness.query_mysql.conftest import DATA, SettingsFactory
from tests.harness.query_mysql.server import MariaServer
from tests.harness.runs import run_context

SLOW = "SELECT id FROM slow WHERE id > ?"
"""Each row takes a minute; the guard cannot know."""

TYPES = """
CREATE TABLE shop.kinds (
  id INT PRIMARY KEY, big BIGINT UNSIGNED, small TINYINT(1), exact DECIMAL(30,10), half FLOAT, whole DOUBLE, day DATE,
  moment DATETIME(3), stamp TIMESTAMP NULL, span TIME, years YEAR, bits BIT(9), doc JSON, bytes BLOB, words TEXT,
  pick ENUM('a','中'), picks SET('x','y'), latin VARCHAR(10) CHARACTER SET latin1, uid UUID, place POINT
) CHARACTER SET utf8mb4
"""
KINDS = """
INSERT INTO shop.kinds VALUES
 (1, 18446744073709551615, 1, '12345678901234567890.1234567891', 1.5, 1e300, '2026-01-02', '2026-01-02 03:04:05.678',
  NULL, '-838:59:59', 2026, b'100000001', '{"a": 1}', x'ff00fe', '文😀', '中', 'x,y', 'é',
  '123e4567-e89b-12d3-a456-426655440000', POINT(1, 2)),
 (2, 0, 0, '-0.0000000001', 0, 0, '0000-00-00', '0000-00-00 00:00:00', NULL, '00:00:00', 0, b'0', '[]', '', '', 'a',
  '', '', NULL, NULL)
"""
KIND_COLUMNS = (
    "id", "big", "small", "exact", "half", "whole", "day", "moment", "stamp", "span", "years", "bits", "doc", "bytes",
    "words", "pick", "picks", "latin", "uid", "place",
)  # fmt: skip
TABLES: dict[str, Any] = {
    "slow": {"columns": ["id"]},
    "kinds": {"columns": list(KIND_COLUMNS)},
    "many": {"columns": ["id", "filler", "hidden"], "redact": ["hidden"]},
}


@pytest.fixture(scope="module")
def server(shop: MariaServer) -> Iterator[MariaServer]:
    """The shop, with a slow view, a table of all types and one of many rows."""
    shop.admin("CREATE VIEW shop.slow AS SELECT id + SLEEP(60) * 0 AS id FROM shop.orders")
    shop.admin(TYPES)
    shop.admin("SET STATEMENT sql_mode = '' FOR " + KINDS)
    shop.admin("CREATE TABLE shop.many (id INT PRIMARY KEY, filler LONGTEXT, hidden VARCHAR(50)) CHARACTER SET utf8mb4")
    shop.admin("INSERT INTO shop.many SELECT seq, REPEAT('长', 400), CONCAT('canary-', seq) FROM shop.seq_1_to_1000")
    for table in ("slow", "kinds", "many"):
        shop.admin(f"GRANT SELECT ON shop.{table} TO guard_ro@localhost")
    # Its own limit of 2 s would end the slow statements before the tool does.
    shop.admin("ALTER USER guard_ro@localhost WITH MAX_STATEMENT_TIME 0")
    yield shop
    for table in ("kinds", "many"):
        shop.admin(f"DROP TABLE shop.{table}")
    shop.admin("DROP VIEW shop.slow")
    for table in ("slow", "kinds", "many"):
        shop.admin(f"REVOKE SELECT ON shop.{table} FROM guard_ro@localhost")


ToolFactory = Callable[..., MysqlTool]


@pytest.fixture
async def tools(settings_for: SettingsFactory) -> AsyncIterator[ToolFactory]:
    made: list[MysqlTool] = []

    def build(server: MariaServer, seconds: float = 10, url: str | None = None, **limits: Any) -> MysqlTool:
        made.append(MysqlTool(settings_for(url or server.url(), TABLES, **limits), seconds))
        return made[-1]

    yield build
    for tool in made:
        await tool.close()


async def ask(tool: MysqlTool, sql: str, *params: Any) -> dict[str, Any]:
    """Run and project, as the boundary does; the result must be plain JSON."""
    arguments = tool.arguments(data_source="order-db", sql=sql, params=list(params))
    ctx, _ = run_context()
    raw = json.loads(json.dumps(await tool.run(ctx, arguments), allow_nan=False))
    result = tool.project(raw, arguments, "call_1")
    json.dumps(result, allow_nan=False)
    return result


def running(server: MariaServer) -> int:
    return len(
        server.admin("SELECT id FROM information_schema.processlist WHERE user = 'guard_ro' AND info LIKE '%slow%'")
    )


async def until_running(server: MariaServer, count: int) -> None:
    async with asyncio.timeout(20):
        while await asyncio.to_thread(running, server) != count:
            await asyncio.sleep(0.02)


async def test_rows_come_as_objects_in_the_order_of_the_query(server: MariaServer, tools: ToolFactory) -> None:
    result = await ask(tools(server), "SELECT order_no, status FROM orders WHERE id <= ? ORDER BY id", 2)
    assert list(result) == [
        "evidence_status", "tool_call_id", "data_source", "columns", "rows", "returned_count", "truncated",
    ]  # fmt: skip
    assert result["rows"] == [
        {"order_no": "SO202610010001", "status": "PAID"},
        {"order_no": "SO202610010002", "status": "FAILED"},
    ]
    assert (result["evidence_status"], result["returned_count"], result["truncated"]) == ("EVIDENCE_FOUND", 2, False)


async def test_nothing_found_keeps_the_scope_without_literals(server: MariaServer, tools: ToolFactory) -> None:
    result = await ask(tools(server), "SELECT id FROM orders WHERE status = 'LOST' AND user_id > ?", 7)
    assert result["evidence_status"] == "NO_EVIDENCE"
    assert result["scope"] == {"tables": ["shop.orders"], "conditions": ["orders.status = ? AND orders.user_id > ?"]}


async def test_every_type_comes_out_as_plain_json(server: MariaServer, tools: ToolFactory) -> None:
    result = await ask(tools(server), f"SELECT {', '.join(KIND_COLUMNS)} FROM kinds ORDER BY id")
    first, zero = result["rows"]
    assert first == {
        "id": 1, "big": 18446744073709551615, "small": 1, "exact": "12345678901234567890.1234567891", "half": 1.5,
        "whole": 1e300, "day": "2026-01-02", "moment": "2026-01-02T03:04:05.678", "stamp": None, "span": "-838:59:59",
        "years": 2026, "bits": 257, "doc": '{"a": 1}', "bytes": "[binary: 3 bytes] 0xff00fe", "words": "文😀",
        "pick": "中", "picks": "x,y", "latin": "é", "uid": "123e4567-e89b-12d3-a456-426655440000",
        "place": "[binary: 25 bytes] 0x000000000101000000000000000000f03f0000000000000040",
    }  # fmt: skip
    assert (zero["day"], zero["moment"], zero["exact"]) == ("0000-00-00", "0000-00-00T00:00:00.000", "-0.0000000001")
    assert (zero["years"], zero["bits"], zero["bytes"], zero["words"]) == (0, 0, "[binary: 0 bytes] 0x", "")
    assert result["truncated"] is False


async def test_parameters_arrive_as_they_are(server: MariaServer, tools: ToolFactory) -> None:
    values: list[Any] = ["a'b\\", '"', "%", "%s", "\0", "上海😀", True, None, 1.5, -7, "'; --"]
    columns = ", ".join(f"? AS p{number}" for number in range(len(values)))
    result = await ask(tools(server), f"SELECT {columns}, '100%' AS q FROM users WHERE id = 1", *values)
    assert list(result["rows"][0].values()) == [*values[:6], 1, *values[7:], "100%"]


@pytest.mark.parametrize(("limit", "rows", "truncated"), [("", 5, True), ("LIMIT 5", 5, False), ("LIMIT 6", 5, True),
                                                          ("LIMIT 3", 3, False), ("LIMIT 0", 0, False)])  # fmt: skip
async def test_truncated_says_exactly_whether_rows_were_cut(
    limit: str, rows: int, truncated: bool, server: MariaServer, tools: ToolFactory
) -> None:
    result = await ask(tools(server, max_rows=5), f"SELECT id FROM orders ORDER BY id {limit}")
    assert (result["returned_count"], len(result["rows"]), result["truncated"]) == (rows, rows, truncated)


async def test_a_result_larger_than_the_limit_loses_rows_and_says_so(server: MariaServer, tools: ToolFactory) -> None:
    result = await ask(tools(server, max_result_bytes=20_000), "SELECT id, filler FROM many ORDER BY id")
    assert len(json.dumps(result, ensure_ascii=False).encode()) <= 20_000
    assert [row["id"] for row in result["rows"]] == list(range(1, result["returned_count"] + 1))
    assert 10 < result["returned_count"] < 200
    assert result["truncated"] is True


async def test_long_and_binary_values_are_cut_and_marked(server: MariaServer, tools: ToolFactory) -> None:
    result = await ask(tools(server, max_cell_chars=100), "SELECT filler FROM many WHERE id = 1")
    assert result["rows"] == [{"filler": "长" * 100 + "… [cut: 400 characters]"}]
    assert result["truncated"] is True


async def test_a_raw_result_over_the_limit_is_refused_not_cut(server: MariaServer, tools: ToolFactory) -> None:
    tool = tools(server, max_raw_bytes=50_000)
    with pytest.raises(ToolCallError) as refused:
        await ask(tool, "SELECT filler FROM many")
    assert refused.value.code is ToolErrorCode.RESULT_TOO_LARGE
    assert (await ask(tool, "SELECT id FROM many WHERE id = 1"))["returned_count"] == 1


async def test_masked_columns_show_no_value_however_they_are_asked_for(server: MariaServer, tools: ToolFactory) -> None:
    sql = "SELECT hidden, UPPER(hidden) AS u, hidden AS plain, MAX(hidden) AS m, COUNT(hidden) AS n FROM many"
    result = await ask(tools(server), f"{sql} WHERE id = 1 GROUP BY hidden HAVING plain IS NOT NULL")
    mask = "[REDACTED:column]"
    assert result["rows"] == [{"hidden": mask, "u": mask, "plain": mask, "m": mask, "n": 1}]
    assert "canary" not in json.dumps(result)


async def test_values_that_look_like_secrets_are_masked(server: MariaServer, tools: ToolFactory) -> None:
    secret = "password=hunter2-Xy9 Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789"
    result = await ask(tools(server), "SELECT CONCAT(?, '') AS note FROM users WHERE id = 1", secret)
    assert "hunter2-Xy9" not in json.dumps(result)
    assert "abcdefghijklmnopqrstuvwxyz" not in json.dumps(result)


async def test_columns_of_one_name_get_names_of_their_own(server: MariaServer, tools: ToolFactory) -> None:
    sql = "SELECT o.status, p.status FROM orders o JOIN payments p ON p.order_id = o.id WHERE p.id = 1"
    result = await ask(tools(server), sql)
    assert result["rows"] == [{"o.status": "PAID", "p.status": "SUCCESS"}]


async def test_a_statement_is_killed_when_its_time_is_up(server: MariaServer, tools: ToolFactory) -> None:
    tool = tools(server, seconds=0.5)
    with pytest.raises(ToolCallError) as ended:
        await ask(tool, SLOW, 0)
    assert ended.value.code is ToolErrorCode.TIMEOUT
    assert running(server) == 0
    assert (await ask(tool, "SELECT id FROM orders WHERE id = 1"))["returned_count"] == 1


async def test_a_cancelled_statement_is_gone_before_the_cancellation_goes_on(
    server: MariaServer, tools: ToolFactory
) -> None:
    tool = tools(server)
    query = asyncio.create_task(ask(tool, SLOW, 0))
    await until_running(server, 1)
    query.cancel()
    with pytest.raises(asyncio.CancelledError):
        await query
    assert running(server) == 0
    assert (await ask(tool, "SELECT id FROM orders WHERE id = 1"))["returned_count"] == 1


async def test_cancelling_at_any_moment_leaves_nothing_behind(server: MariaServer, tools: ToolFactory) -> None:
    tool = tools(server, pool_size=2)
    for step in range(25):
        query = asyncio.create_task(ask(tool, SLOW, 0))
        await asyncio.sleep(step * 0.001)
        query.cancel()
        with pytest.raises(asyncio.CancelledError):
            await query
        assert running(server) == 0
    assert (await ask(tool, "SELECT id FROM orders WHERE id = 1"))["returned_count"] == 1


async def test_a_full_pool_is_unavailable_and_then_recovers(server: MariaServer, tools: ToolFactory) -> None:
    tool = tools(server, pool_size=1, pool_wait_seconds=0.1)
    slow = asyncio.create_task(ask(tool, SLOW, 0))
    await until_running(server, 1)
    with pytest.raises(ToolCallError) as refused:
        await ask(tool, "SELECT id FROM orders")
    assert refused.value.code is ToolErrorCode.UNAVAILABLE
    slow.cancel()
    await asyncio.wait([slow])
    assert (await ask(tool, "SELECT id FROM orders WHERE id = 1"))["returned_count"] == 1


@pytest.mark.parametrize("password", ["wrong", "wrong%40%2F"])
async def test_a_wrong_password_is_unavailable_and_stays_unsaid(
    password: str, server: MariaServer, tools: ToolFactory, caplog: pytest.LogCaptureFixture
) -> None:
    tool = tools(server, url=server.url(password=password))
    with pytest.raises(ToolCallError) as refused:
        await ask(tool, "SELECT id FROM orders")
    assert refused.value.code is ToolErrorCode.UNAVAILABLE
    assert "guard_ro" not in str(refused.value) + caplog.text
    assert "wrong" not in str(refused.value) + caplog.text


async def test_a_server_that_is_not_there_is_unavailable(server: MariaServer, tools: ToolFactory) -> None:
    tool = tools(server, url="mysql://guard_ro:x@127.0.0.1:1")
    with pytest.raises(ToolCallError) as refused:
        await ask(tool, "SELECT id FROM orders")
    assert refused.value.code is ToolErrorCode.UNAVAILABLE


async def test_an_error_of_the_servers_keeps_its_words_to_itself(server: MariaServer, tools: ToolFactory) -> None:
    with pytest.raises(ToolCallError) as refused:
        await ask(tools(server), "SELECT id FROM kinds WHERE id - ? > 18446744073709551615 + big", "canary-value")
    assert refused.value.code is ToolErrorCode.INVALID_ARGUMENTS
    assert "canary" not in refused.value.hint
    assert "1690" in refused.value.hint


def test_a_session_is_read_only_and_has_fixed_modes(server: MariaServer, settings_for: SettingsFactory) -> None:
    connection = open_connection(settings_for(server.url()).data_sources["order-db"], 5, 5)
    try:
        connection.query("SELECT @@sql_mode, @@character_set_client, @@tx_read_only, @@max_statement_time")
        ((mode, charset, read_only, limit),) = connection.store_result().fetch_row(maxrows=0)
    finally:
        connection.close()
    assert "NO_BACKSLASH_ESCAPES" not in mode
    assert "ANSI_QUOTES" not in mode
    assert (charset, read_only, float(limit)) == ("utf8mb4", 1, 5.0)


async def test_a_restarted_server_is_used_again(
    tmp_path_factory: pytest.TempPathFactory, settings_for: SettingsFactory
) -> None:
    directory: Path = tmp_path_factory.mktemp("restarted")
    server = MariaServer(directory)
    await asyncio.to_thread(server.install)
    await asyncio.to_thread(server.start)
    tool = MysqlTool(settings_for(server.url()), 10)
    try:
        await asyncio.to_thread(server.load, DATA / "fixture.sql")
        assert (await ask(tool, "SELECT id FROM orders WHERE id = 1"))["returned_count"] == 1
        await asyncio.to_thread(server.stop)
        with pytest.raises(ToolCallError) as refused:
            await ask(tool, "SELECT id FROM orders WHERE id = 2")
        assert refused.value.code is ToolErrorCode.UNAVAILABLE
        await asyncio.to_thread(server.start)
        assert (await ask(tool, "SELECT id FROM orders WHERE id = 3"))["returned_count"] == 1
    finally:
        await tool.close()
        await asyncio.to_thread(server.stop)
