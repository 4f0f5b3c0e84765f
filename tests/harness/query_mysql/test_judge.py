"""MariaDB as judge: whatever the guard accepts runs for the account, with the rows of the original."""

from collections.abc import Iterator
from typing import Any

import pytest
from MySQLdb.connections import Connection

from harness.tools.query_mysql.connection import SQL_MODE
from harness.tools.query_mysql.executor import DataSourcePool
from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.policy import Policy
from tests.harness.query_mysql.conftest import SettingsFactory, read_cases
from tests.harness.query_mysql.server import MariaServer, prepared

MODES = [SQL_MODE, f"{SQL_MODE},ONLY_FULL_GROUP_BY"]


@pytest.fixture(scope="module", params=MODES, ids=["default", "full_group_by"])
def judge(request: pytest.FixtureRequest, shop: MariaServer) -> Iterator[Connection]:
    """The account whose column grants equal the policy, at a clock that stands still."""
    connection = shop.connect("guard_ro", "guard_ro", "shop", sql_mode=request.param)
    with connection.cursor() as cursor:
        cursor.execute("SET timestamp = UNIX_TIMESTAMP()")
    yield connection
    connection.close()


@pytest.mark.parametrize("case", read_cases("accept"), ids=lambda case: case["id"])
def test_the_rendering_returns_the_rows_of_the_original(
    case: dict[str, Any], policy: Policy, judge: Connection
) -> None:
    proved = prove(case["sql"], case["params"], policy)
    original = prepared(judge, case["sql"].rstrip(";"), case["params"])
    assert sorted(map(repr, prepared(judge, proved.executed_sql, proved.params))) == sorted(map(repr, original))


@pytest.mark.parametrize("mode", MODES, ids=["default", "full_group_by"])
async def test_the_executor_runs_every_accepted_case(
    mode: str, policy: Policy, shop: MariaServer, settings_for: SettingsFactory
) -> None:
    settings = settings_for(shop.url())
    pool = DataSourcePool("order-db", settings.data_sources["order-db"], settings, 10, mode)
    connection = shop.connect("guard_ro", "guard_ro", "shop", sql_mode=mode)
    try:
        for case in read_cases("accept"):
            proved = prove(case["sql"], case["params"], policy)
            found = await pool.fetch(proved, policy.max_rows)
            assert not found.more
            original = prepared(connection, case["sql"].rstrip(";"), case["params"])
            assert len(found.rows) == len(original), case["id"]
            assert all(len(row) == len(proved.outputs) for row in found.rows)
    finally:
        connection.close()
        await pool.close()
