"""Whatever the guard accepts, MariaDB allows for the account and answers as it would answer the original."""

from collections.abc import Iterator, Sequence
from random import Random

import MySQLdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from MySQLdb.connections import Connection

from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.refusal import StatementRefusedError
from tests.harness.query_mysql.conftest import read_policy
from tests.harness.query_mysql.grammar import Grower
from tests.harness.query_mysql.server import MariaServer, prepared

POLICY = read_policy()
DENIED_OR_UNREADABLE = frozenset(
    {1044, 1045, 1052, 1054, 1056, 1064, 1066, 1109, 1111, 1142, 1143, 1146, 1210, 1222, 1227, 1235, 1247, 1305, 1370,
     1582, 1583, 1584, 1630}
)  # fmt: skip


@pytest.fixture(scope="module")
def judge(shop: MariaServer) -> Iterator[Connection]:
    connection = shop.connect("guard_ro", "guard_ro", "shop")
    with connection.cursor() as cursor:
        cursor.execute("SET timestamp = UNIX_TIMESTAMP()")
    yield connection
    connection.close()


def answer(connection: Connection, sql: str, params: Sequence[object]) -> tuple[list[str], int]:
    """The rows without their order, and the error number (0: none)."""
    try:
        return sorted(map(repr, prepared(connection, sql, params))), 0
    except MySQLdb.Error as error:
        return [], error.args[0]


@given(random=st.randoms(use_true_random=False))
@settings(max_examples=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_accepted_statement_runs_as_the_original_would(judge: Connection, random: Random) -> None:
    grower = Grower(random)
    sql, params = grower.statement(), grower.params
    try:
        proved = prove(sql, params, POLICY)
    except StatementRefusedError:
        return
    again = prove(proved.executed_sql, proved.params, POLICY)
    assert (again.executed_sql, again.params) == (proved.executed_sql, proved.params)
    rows, number = answer(judge, proved.executed_sql, proved.params)
    assert number not in DENIED_OR_UNREADABLE, (number, sql, proved.executed_sql)
    assert (rows, number) == answer(judge, sql.rstrip("; \n"), params), (sql, proved.executed_sql)
