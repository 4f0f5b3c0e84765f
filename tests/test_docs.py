"""Docs that cannot rot: codes, event types and commands of the code are in the docs."""

import re
from enum import StrEnum
from pathlib import Path

import pytest
from django.core.management import get_commands

from harness import recorder
from harness.errors import FailureCode, ToolErrorCode
from harness.progress import StatusCode
from harness.tools.query_logs.query import parse_query
from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import StatementRefusedError
from superbiz.conf import load
from superbiz.management.commands.settings import documentation

ROOT = Path(__file__).parent.parent
APPS = ("superbiz", "chat", "audit", "knowledge")


@pytest.mark.parametrize(
    ("codes", "page"),
    [(StatusCode, "api"), (FailureCode, "api"), (ToolErrorCode, "tools")],
    ids=lambda value: str(value),
)
def test_every_code_is_documented(codes: type[StrEnum], page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert [code.value for code in codes if f"`{code.value}`" not in text] == []


def test_every_timeline_event_is_documented() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    types = [kind.event_type for kind in recorder.TraceDetails.__subclasses__()]
    assert len(types) == 18
    assert [name for name in types if f"`{name}`" not in text] == []


def test_every_command_is_documented_and_every_documented_one_exists() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    documented = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert documented == {name for name, app in get_commands().items() if app in APPS}


def test_the_architecture_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {part for part in text.split("`") if part.endswith(".py")}
    assert len(named) > 10
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", ["docs/tools.md", "README.md", "README.zh-CN.md"])
def test_configurations_in_the_docs_are_valid(page: str, tmp_path: Path) -> None:
    configurations = blocks(page, "toml")
    assert configurations
    for configuration in configurations:
        path = tmp_path / "superbiz.toml"
        path.write_text(configuration)
        load({"SUPERBIZ_CONFIG": str(path), "ORDER_MYSQL_URL": "mysql://reader:secret@127.0.0.1:3306"})


def test_the_example_configuration_is_valid() -> None:
    path = ROOT / "deploy" / "superbiz.example.toml"
    load({"SUPERBIZ_CONFIG": str(path), "ORDER_MYSQL_URL": "mysql://reader:secret@127.0.0.1:3306"})


def test_statements_in_the_docs_are_judged_as_they_say(tmp_path: Path) -> None:
    path = tmp_path / "superbiz.toml"
    path.write_text(blocks("docs/tools.md", "toml")[1])
    tree = load({"SUPERBIZ_CONFIG": str(path), "ORDER_MYSQL_URL": "mysql://reader:secret@127.0.0.1:3306"})
    policy = Policy.build(tree.mysql_tools.data_sources["order_readonly"], tree.mysql_tools)
    accepted = blocks("docs/tools.md", "sql")[0].strip().splitlines()
    assert len(accepted) >= 3
    for statement in accepted:
        prove(statement, ["order-123"] * statement.count("?"), policy)
    text = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    refused = re.findall(r"^\| `([^`]*(?:SELECT|UPDATE)[^`]*)` \|", text, re.MULTILINE)
    assert len(refused) >= 8
    for statement in refused:
        with pytest.raises(StatementRefusedError):
            prove(statement, [], policy)


def test_log_queries_in_the_docs_can_be_parsed() -> None:
    section = (
        (ROOT / "docs" / "tools.md").read_text(encoding="utf-8").split("## query_logs")[1].split("## query_mysql")[0]
    )
    queries = re.findall(r"^\| `([^`]+)` \| (?:hold|are)", section, re.MULTILINE)
    assert len(queries) == 6
    for query in queries:
        parse_query(query)


def test_every_setting_is_documented_as_it_is() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == documentation()
