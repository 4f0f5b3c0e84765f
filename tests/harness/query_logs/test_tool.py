"""The tool at its boundary: strict arguments, and errors that teach."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import ToolCallError
from harness.tools.query_logs import search
from harness.tools.query_logs.config import LogToolsSettings
from harness.tools.query_logs.tool import LogArguments, LogsTool
from tests.harness.query_logs.asking import ask, file_tool, mock_tool


def arguments(tool: LogsTool, **values: Any) -> LogArguments:
    return tool.arguments.model_validate_json(json.dumps({"topic": "APPLICATION", "query": "paid", **values}))


def test_the_agent_sees_topics_bounds_and_the_query_language() -> None:
    tool = mock_tool()
    schema = json.dumps(tool.arguments.model_json_schema())
    for part in ("APPLICATION", "GATEWAY", "DATABASE", "SYSTEM", "1440", "300", "level:ERROR", "service:name", "OR"):
        assert part in schema
    assert "MOCK are simulated" in tool.description
    assert arguments(tool).lookback_minutes == 30


@pytest.mark.parametrize(
    "values",
    [
        {"topic": "OTHER"},
        {"topic": "application"},
        {"query": ""},
        {"query": "q" * 301},
        {"query": 7},
        {"lookback_minutes": 0},
        {"lookback_minutes": 1441},
        {"lookback_minutes": "30"},
        {"lookback_minutes": 1.5},
        {"limit": 3},
    ],
)
def test_arguments_outside_the_schema_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        arguments(mock_tool(), **values)


@pytest.mark.parametrize("values", [{"query": "q"}, {"query": "q" * 300}, {"lookback_minutes": 1440}])
def test_arguments_at_their_limits_are_taken(values: dict[str, Any]) -> None:
    assert arguments(mock_tool(), **values)


def test_a_setting_may_lower_the_lookback() -> None:
    tool = LogsTool(LogToolsSettings(max_lookback_minutes=20), 10)
    assert arguments(tool).lookback_minutes == 20
    with pytest.raises(ValidationError):
        arguments(tool, lookback_minutes=21)


async def test_a_mistake_in_the_query_names_its_place() -> None:
    with pytest.raises(ToolCallError) as caught:
        await ask(mock_tool(), "paid level:LOUD")
    assert caught.value.code == "INVALID_ARGUMENTS"
    assert "Character 12" in caught.value.hint


def test_calls_that_ask_the_same_are_told() -> None:
    tool = mock_tool()
    same = {tool.normalise(arguments(tool, query=query)) for query in ("a  B", "b a", 'A "b"')}
    assert len(same) == 1
    other: list[dict[str, Any]] = [
        {"query": '"a b"'},
        {"query": "a b", "lookback_minutes": 5},
        {"query": "a b", "topic": "SYSTEM"},
    ]
    assert len({tool.normalise(arguments(tool, **values)) for values in other} | same) == 4
    assert tool.normalise(arguments(tool, query='"open')) != tool.normalise(arguments(tool, query='"other'))


def test_the_summary_holds_counts_and_no_text() -> None:
    tool = mock_tool()
    asked = arguments(tool, query="secret words")
    result = {"match_count": 7, "returned_count": 3, "truncated": True, "events": [{"message": "secret words"}]}
    assert "secret" not in tool.summarize(asked, result).model_dump_json()
    assert tool.summarize(asked, result).match_count == 7
    assert tool.summarize(asked, None).topic == "APPLICATION"


async def test_a_search_of_too_many_files_out_of_time_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.log").write_text("2024-01-02 11:59:00 INFO paid\n" * 50_000)
    monkeypatch.setattr(search, "_MAX_OPEN", 1)
    with pytest.raises(ToolCallError) as caught:
        await ask(file_tool(tmp_path, timeout=0.02), "-nothing")
    assert caught.value.code == "TIMEOUT"
