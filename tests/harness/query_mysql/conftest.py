"""What the tests of query_mysql share: the shop's policy, and a MariaDB that holds the shop."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.tools.query_mysql.config import MysqlToolsSettings, PolicySettings
from harness.tools.query_mysql.policy import Policy
from superbiz.demo.services import Services
from tests.harness.query_mysql.server import MariaServer

DATA = Path(__file__).resolve().parents[2] / "data" / "sql"


def read_cases(verdict: str | None = None) -> list[dict[str, Any]]:
    lines = (DATA / "open.jsonl").read_text(encoding="utf-8").splitlines()
    cases: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [case for case in cases if verdict in (None, case["verdict"])]


def read_policy() -> Policy:
    settings = PolicySettings.model_validate_json((DATA / "policy.json").read_text(encoding="utf-8"))
    return Policy.build(settings.data_sources["order-db"], settings)


@pytest.fixture(scope="session")
def policy() -> Policy:
    return read_policy()


@pytest.fixture(scope="session")
def shop(services: Services) -> MariaServer:
    """The session's MariaDB with the shop's tables and rows. Tests do not change the rows."""
    server = MariaServer(services.directory, services.endpoints.mariadb_socket)
    server.load(DATA / "fixture.sql")
    return server


SettingsFactory = Callable[..., MysqlToolsSettings]


@pytest.fixture
def settings_for() -> SettingsFactory:
    """Settings with one data source, `order-db`, on a server; tables and limits may be replaced."""

    def build(url: str, tables: dict[str, Any] | None = None, **limits: Any) -> MysqlToolsSettings:
        source = json.loads((DATA / "policy.json").read_text(encoding="utf-8"))["data_sources"]["order-db"]
        if tables is not None:
            source["allowed_schemas"]["shop"]["tables"] |= tables
        source["url"] = "${SHOP_URL}"
        return MysqlToolsSettings.model_validate(
            {"data_sources": {"order-db": source}, **limits}, context={"environ": {"SHOP_URL": url}}
        )

    return build
