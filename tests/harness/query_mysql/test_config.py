"""Settings: addresses come from the environment only, allowlists are exact, refusals name the setting."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from superbiz.conf import Settings, SettingsError, load

URL = "mysql://reader:canary-pass@db.example:3306"
TOML = """
[mysql_tools.data_sources.order_readonly]
url = "${ORDER_MYSQL_URL}"
default_schema = "order_db"
[mysql_tools.data_sources.order_readonly.allowed_schemas.order_db.tables]
biz_order = { columns = ["order_id", "user_id", "payment_status", "created_at", "updated_at"] }
payment_record = { columns = ["payment_id", "order_id", "channel", "status"], redact = ["channel"] }
"""


def load_toml(tmp_path: Path, text: str, **environ: str) -> Settings:
    path = tmp_path / "superbiz.toml"
    path.write_text(text, encoding="utf-8")
    return load({"SUPERBIZ_CONFIG": str(path), "ORDER_MYSQL_URL": URL, **environ})


def test_the_example_of_the_contract_is_read(tmp_path: Path) -> None:
    source = load_toml(tmp_path, TOML).mysql_tools.data_sources["order_readonly"]
    assert source.url.get_secret_value() == URL
    assert source.allowed_schemas["order_db"].tables["payment_record"].redact == ["channel"]


def test_the_address_is_in_no_representation(tmp_path: Path) -> None:
    settings = load_toml(tmp_path, TOML)
    assert "canary-pass" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_limits_come_from_the_environment_too(tmp_path: Path) -> None:
    assert load_toml(tmp_path, TOML, SUPERBIZ_MYSQL_TOOLS__MAX_ROWS="50").mysql_tools.max_rows == 50


@pytest.mark.parametrize(
    ("old", "new", "environ", "said"),
    [
        ("${ORDER_MYSQL_URL}", "mysql://a:canary-pass@h", {}, "data_sources.order_readonly.url: must be ${VARIABLE}"),
        ("${ORDER_MYSQL_URL}", "mysql://a:${P}@h", {}, "must be ${VARIABLE}"),
        ("${ORDER_MYSQL_URL}", "${OTHER}", {}, "url: the environment variable OTHER is not set"),
        ("", "", {"ORDER_MYSQL_URL": ""}, "ORDER_MYSQL_URL is not set"),
        ("", "", {"ORDER_MYSQL_URL": "postgresql://a:canary-pass@h/x"}, "must begin with mysql://"),
        ("", "", {"ORDER_MYSQL_URL": "mysql://canary-pass"}, "names no user"),
        ("", "", {"ORDER_MYSQL_URL": "mysql://a:canary-pass@/"}, "names no host"),
        ("", "", {"ORDER_MYSQL_URL": "mysql://a:canary-pass@h/shop"}, "must not name a database"),
        ("", "", {"ORDER_MYSQL_URL": "mysql://a:canary-pass@h?init_command=x"}, "options other than"),
        ("", "", {"ORDER_MYSQL_URL": "mysql://a:canary-pass@h:port"}, "is not a URL"),
        ("", "", {"DATABASE_URL": "mysql://app:other@db.example/app"}, "application's own database"),
        ('default_schema = "order_db"', 'default_schema = "hr"', {}, "default_schema hr is not one of"),
        ("order_db.tables", "mysql.tables", {}, "metadata schemas cannot be allowed"),
        ('"order_id", "user_id"', '"*"', {}, "is not an exact name"),
        ("biz_order", '"biz_%"', {}, "is not an exact name"),
        ('"order_id", "user_id"', '"order_id", "ORDER_ID"', {}, "twice"),
        ('redact = ["channel"]', 'redact = ["phone"]', {}, "redact names phone"),
        ("url =", "uri =", {}, "uri: unknown setting"),
        ("[mysql_tools.data", "mysql_tools.functions = ['SLEEP']\n[mysql_tools.data", {}, "functions: SLEEP is not"),
        ("[mysql_tools.data", "mysql_tools.max_rows = 0\n[mysql_tools.data", {}, "max_rows"),
    ],
)  # fmt: skip
def test_a_bad_setting_stops_the_start_and_is_named(
    old: str, new: str, environ: Mapping[str, str], said: str, tmp_path: Path
) -> None:
    text = TOML.replace(old, new) if old else TOML
    if new.startswith("mysql://"):
        text = TOML.replace(f'"{old}"', f'"{new}"')
    with pytest.raises(SettingsError) as refused:
        load_toml(tmp_path, text, **environ)
    assert said in str(refused.value)
    assert "canary-pass" not in str(refused.value)


def test_every_setting_says_what_it_is_and_its_unit() -> None:
    fields: dict[str, Any] = dict(Settings().mysql_tools.__class__.model_fields)
    assert all("(" in field.description for field in fields.values() if field.annotation in (int, float))
    assert all(field.description for field in fields.values())
