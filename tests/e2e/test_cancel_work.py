"""A client that leaves in the middle of a diagnosis: whatever was running ends, here and at the servers."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import MySQLdb
import pytest

from superbiz.demo.services import Services
from superbiz.demo.shop import ACCOUNT, settings_file
from tests.e2e.client import ChatClient
from tests.e2e.conftest import Serve
from tests.e2e.waiting import FIRST_CALL_SECONDS, ended, eventually
from tests.provider.replies import call, calls, hang, text
from tests.provider.server import Provider

SLOW = "SELECT order_id FROM slow_orders WHERE order_id = ?"


@pytest.fixture
def slow_view(services: Services) -> Iterator[None]:
    """A view of the shop that takes a minute for its one row."""
    with MySQLdb.connect(unix_socket=str(services.endpoints.mariadb_socket), user="root", autocommit=True) as root:
        cursor = root.cursor()
        cursor.execute(
            "CREATE OR REPLACE SQL SECURITY DEFINER VIEW order_db.slow_orders AS"
            " SELECT order_id FROM order_db.biz_order WHERE order_id = 'order-123' AND SLEEP(60) = 0"
        )
        cursor.execute(f"GRANT SELECT (order_id) ON order_db.slow_orders TO {ACCOUNT}@'%'")
        yield
        cursor.execute("DROP VIEW order_db.slow_orders")


def running_statements(services: Services) -> list[str]:
    with MySQLdb.connect(unix_socket=str(services.endpoints.mariadb_socket), user="root") as root:
        cursor = root.cursor()
        cursor.execute(
            "SELECT info FROM information_schema.processlist WHERE user = %s AND info IS NOT NULL", [ACCOUNT]
        )
        return [row[0] for row in cursor.fetchall()]


def test_a_running_statement_is_killed(
    serve_with: Serve,
    client_of: Callable[..., ChatClient],
    provider: Provider,
    services: Services,
    slow_view: None,
    tmp_path: Path,
) -> None:
    config = tmp_path / "superbiz.toml"
    config.write_text(f'{settings_file()}slow_orders = {{ columns = ["order_id"] }}\n')
    asked = {"data_source": "order_readonly", "sql": SLOW, "params": ["order-123"]}
    provider.script("diagnosis", calls([call("call_slow", "query_mysql", asked)]))
    with serve_with(SUPERBIZ_CONFIG=str(config)) as server:
        with client_of("owner", server).open("支付超时") as stream:
            stream.until("status", "TOOL_RUNNING")
            eventually(lambda: any("slow_orders" in statement for statement in running_statements(services)))
        run = ended(stream.run_id)
        assert run.status == "CANCELLED"
        eventually(lambda: not running_statements(services), 5)
        invocation = run.tool_invocations.get()
        assert (invocation.tool_call_id, invocation.status) == ("call_slow", "ERROR")
        assert provider.purposes() == ["intent_router", "diagnosis"]


def test_a_log_search_ends(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider, tmp_path: Path
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    now = time.time()
    with (folder / "big.log").open("w") as file:
        for number in range(400_000):
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 1000 + number / 500))
            file.write(f"{at} INFO order-service served request {number} in {number % 97} ms\n")
    config = tmp_path / "superbiz.toml"
    config.write_text(f'[log_tools.topics.APPLICATION]\nsource = "FILE"\npaths = ["{folder}"]\n{settings_file()}')
    asked = {"topic": "APPLICATION", "query": "served OR request", "lookback_minutes": 60}
    provider.script("diagnosis", calls([call("call_big", "query_logs", asked)]))
    with serve_with(SUPERBIZ_CONFIG=str(config)) as server:
        with client_of("owner", server).open("支付超时") as stream:
            stream.until("status", "TOOL_RUNNING")
        assert ended(stream.run_id).status == "CANCELLED"
        assert provider.purposes() == ["intent_router", "diagnosis"]


@pytest.mark.parametrize("purpose", ["diagnosis", "evidence_repair", "semantic_guard"])
def test_a_model_call_of_a_diagnosis_is_closed(owner: ChatClient, provider: Provider, purpose: str) -> None:
    if purpose == "evidence_repair":
        provider.script("diagnosis", text("no draft"))
    provider.script(purpose, hang())
    with owner.open("支付超时") as stream:
        seen = provider.wait_for(purpose, FIRST_CALL_SECONDS)
    provider.wait_closed(seen)
    run = ended(stream.run_id)
    assert (run.status, run.released_content) == ("CANCELLED", None)
    step: Any = run.steps.order_by("step_index").last()
    assert (step.purpose, step.outcome) == (purpose, "CANCELLED")
    assert provider.purposes()[-1] == purpose
