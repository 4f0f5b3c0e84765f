"""Grants beyond the allowlist are found and said; grants equal to it are not."""

from collections.abc import Iterator

import pytest
from django.core.checks import Warning as CheckWarning
from django.test import override_settings

from harness.tools.query_mysql.config import MysqlToolsSettings
from harness.tools.query_mysql.grants import excess_grants
from superbiz.checks import accounts_of_data_sources
from superbiz.conf import Settings
from tests.harness.query_mysql.conftest import SettingsFactory
from tests.harness.query_mysql.server import MariaServer


@pytest.fixture
def account(shop: MariaServer) -> Iterator[str]:
    """An account that may log in and nothing else."""
    shop.admin("CREATE USER checked@localhost IDENTIFIED BY 'checked'")
    yield "checked@localhost"
    shop.admin("DROP USER checked@localhost")


def found(shop: MariaServer, settings_for: SettingsFactory) -> list[str]:
    return excess_grants(settings_for(shop.url("checked", "checked")).data_sources["order-db"])


def test_column_grants_equal_to_the_allowlist_are_fine(shop: MariaServer, settings_for: SettingsFactory) -> None:
    assert excess_grants(settings_for(shop.url()).data_sources["order-db"]) == []


@pytest.mark.parametrize(
    ("grant", "said"),
    [
        ("SELECT (id, phone) ON shop.users", "may read the columns phone of shop.users"),
        ("SELECT ON shop.users", "may SELECT on all of shop.users; grant SELECT on the allowed columns only"),
        ("SELECT (id) ON hr.salaries", "may SELECT on hr.salaries, which the allowlist does not name"),
        ("SELECT (id), UPDATE (name) ON shop.users", "may UPDATE on all of shop.users"),
        ("SELECT ON shop.*", "may SELECT on shop.*, which the allowlist does not name"),
        ("PROCESS ON *.*", "may PROCESS on *.*, which the allowlist does not name"),
        ("ALL PRIVILEGES ON *.*", "may ALL PRIVILEGES on *.*, which the allowlist does not name"),
    ],
)
def test_each_grant_beyond_the_allowlist_is_named(
    grant: str, said: str, shop: MariaServer, account: str, settings_for: SettingsFactory
) -> None:
    shop.admin(f"GRANT SELECT (id, name) ON shop.users TO {account}")
    assert found(shop, settings_for) == []
    shop.admin(f"GRANT {grant} TO {account}")
    assert said in found(shop, settings_for)


def test_a_role_is_named(shop: MariaServer, account: str, settings_for: SettingsFactory) -> None:
    shop.admin("CREATE ROLE everything")
    try:
        shop.admin(f"GRANT everything TO {account}")
        assert any("has the role" in problem for problem in found(shop, settings_for))
    finally:
        shop.admin("DROP ROLE everything")


def check(settings: MysqlToolsSettings) -> list[str | None]:
    with override_settings(SUPERBIZ=Settings().model_copy(update={"mysql_tools": settings})):
        messages = accounts_of_data_sources(None)
    assert all(isinstance(message, CheckWarning) for message in messages)
    return [message.id for message in messages]


def test_the_deploy_check_warns(shop: MariaServer, account: str, settings_for: SettingsFactory) -> None:
    assert check(settings_for(shop.url())) == []
    assert check(settings_for(shop.url("checked", "wrong"))) == ["superbiz.W002"]
    shop.admin(f"GRANT INSERT ON shop.orders TO {account}")
    assert check(settings_for(shop.url("checked", "checked"))) == ["superbiz.W001"]
