"""The settings tree: what is refused, and that the refusal names setting, bounds and origin."""

from pathlib import Path

import pytest

from superbiz.conf import SettingsError, describe, load

VALID_URL = {"SHOP_URL": "mysql://reader:secret@127.0.0.1:3306"}
SHOP = """
[mysql_tools.data_sources.shop]
url = "${SHOP_URL}"
default_schema = "order_db"
[mysql_tools.data_sources.shop.allowed_schemas.order_db.tables]
biz_order = { columns = ["order_id"] }
"""


def refusal(environ: dict[str, str], toml: str | None = None, tmp_path: Path | None = None) -> str:
    if toml is not None and tmp_path is not None:
        path = tmp_path / "superbiz.toml"
        path.write_text(toml)
        environ = {**environ, "SUPERBIZ_CONFIG": str(path)}
    with pytest.raises(SettingsError) as refused:
        load(environ)
    return str(refused.value)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "superbiz.toml"
    path.write_text("[harness.budget]\nmodel_calls = 5\ntool_calls = 10\n[model]\nname = 'ollama/x'\n")
    tree = load({"SUPERBIZ_CONFIG": str(path), "SUPERBIZ_HARNESS__BUDGET__MODEL_CALLS": "7"})
    assert (tree.harness.budget.model_calls, tree.harness.budget.tool_calls, tree.model.name) == (7, 10, "ollama/x")


def test_short_names_set_their_settings() -> None:
    tree = load({"SUPERBIZ_MODEL": "openai/x", "SUPERBIZ_MODEL_API_BASE": "http://127.0.0.1:1/v1"})
    assert (tree.model.name, tree.model.api_base) == ("openai/x", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SUPERBIZ_HARNESS__BUDGET__MODEL_CALLS", "2", ("harness.budget.model_calls", "greater than or equal to 3")),
        ("SUPERBIZ_HARNESS__BUDGET__TOOL_CALLS", "0", ("harness.budget.tool_calls", "greater than 0")),
        ("SUPERBIZ_HARNESS__BUDGET__RUN_SECONDS", "soon", ("harness.budget.run_seconds", "number")),
        ("SUPERBIZ_HARNESS__TIMEOUTS__ROUTER", "-1", ("harness.timeouts.router", "greater than 0")),
        ("SUPERBIZ_HARNESS__BUDGET__MODELCALLS", "8", ("harness.budget.modelcalls", "unknown setting")),
        ("SUPERBIZ_NO_SUCH_THING", "8", ("no_such_thing", "unknown setting")),
        ("SUPERBIZ_RETENTION__RUNS_DAYS", "0", ("retention.runs_days", "greater than 0")),
    ],
)
def test_bad_values_and_unknown_names_are_refused(variable: str, value: str, says: tuple[str, ...]) -> None:
    message = refusal({variable: value})
    for words in (*says, variable):
        assert words in message


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"SUPERBIZ_HARNESS__EVIDENCE__TTL_SECONDS": "580"}, "ttl_seconds must exceed"),
        ({"SUPERBIZ_HARNESS__BUDGET__CONTEXT_TOKENS": "300000"}, "context_tokens must not exceed"),
        ({"SUPERBIZ_HARNESS__BUDGET__TOOL_CALLS": "4"}, "must not exceed tool_calls"),
        ({"SUPERBIZ_HARNESS__BUDGET__REPORT_RESERVE_SECONDS": "180"}, "below run_seconds"),
        ({"SUPERBIZ_HARNESS__TIMEOUTS__SEMANTIC_ATTEMPT": "101"}, "semantic_attempt must not exceed"),
        ({"SUPERBIZ_HARNESS__EVIDENCE__MAX_RECORD_BYTES": "6000000"}, "max_record_bytes must not exceed"),
    ],
)
def test_sums_that_cannot_hold_are_refused(environ: dict[str, str], says: str) -> None:
    message = refusal(environ)
    assert says in message
    assert next(iter(environ)) in message


def test_the_ttl_just_above_its_least_is_accepted() -> None:
    assert load({"SUPERBIZ_HARNESS__EVIDENCE__TTL_SECONDS": "581"}).harness.evidence.ttl_seconds == 581


@pytest.mark.parametrize(
    ("toml", "environ", "says"),
    [
        (SHOP.replace("${SHOP_URL}", "mysql://reader:hunter2@127.0.0.1"), VALID_URL, "url"),
        (SHOP, {}, "SHOP_URL"),
        (SHOP.replace('default_schema = "order_db"', 'default_schema = "other"'), VALID_URL, "default_schema"),
        (SHOP.replace('["order_id"]', '["*"]'), VALID_URL, "columns"),
        (SHOP.replace("biz_order", '"biz_%"'), VALID_URL, "tables"),
        (SHOP, {"SHOP_URL": "postgresql://a:b@127.0.0.1/x"}, "url"),
        ("[log_tools.topics.APPLICATION]\nsource = 'FILE'\n", {}, "paths"),
        ("[log_tools.topics.APPLICATION]\nsource = 'FILE'\npaths = ['/x']\nzone = 'Mars'\n", {}, "zone"),
        ("[log_tools.topics.lower]\nsource = 'MOCK'\n", {}, "topics"),
        ("[harness", {}, "not valid TOML"),
    ],
)
def test_bad_files_are_refused_without_their_secrets(
    tmp_path: Path, toml: str, environ: dict[str, str], says: str
) -> None:
    message = refusal(environ, toml, tmp_path)
    assert says in message
    assert "hunter2" not in message
    assert "secret" not in message.replace("secret)", "")
    assert str(tmp_path) in message or "SHOP_URL" in message


def test_a_missing_file_is_refused() -> None:
    assert "/no/such/file.toml" in refusal({"SUPERBIZ_CONFIG": "/no/such/file.toml"})


def test_every_setting_has_a_sentence_with_its_unit() -> None:
    for name, field in describe():
        assert field.description, name
        assert field.description.endswith((".", ")")), name
        assert "(" in field.description or field.description.endswith("."), name


def test_secrets_are_not_shown() -> None:
    tree = load({"SUPERBIZ_MODEL_API_KEY": "sk-planted"})
    assert "sk-planted" not in repr(tree)
