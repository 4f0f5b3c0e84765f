import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report import DiagnosisDraft, DraftInvalidError, parse_draft
from tests.harness.drafts import draft_json


def faults(text: str) -> list[tuple[str, str]]:
    with pytest.raises(DraftInvalidError) as caught:
        parse_draft(text)
    return [(error.path, error.code) for error in caught.value.errors]


def test_a_plain_object_is_read() -> None:
    assert parse_draft(json.dumps(draft_json())).analysis[0].tool_call_ids == ["call_1"]


@pytest.mark.parametrize("wrapped", ["```json\n%s\n```", "```\n%s\n```\n", "\n %s \n", "```JSON\r\n%s\r\n```"])
def test_one_code_fence_and_white_space_around_it_are_forgiven(wrapped: str) -> None:
    assert parse_draft(wrapped % json.dumps(draft_json())).limitations.missing_info == ["slow queries"]


@pytest.mark.parametrize(
    "wrapped",
    [
        "Here it is: %s",
        "%s That is all.",
        "```json\n%s\n```\nDone.",
        "```json\n%s\n```\n```json\n{}\n```",
        "[%s]",
        "%s%s",
    ],
)
def test_anything_else_around_the_object_is_refused(wrapped: str) -> None:
    assert faults(wrapped.replace("%s", json.dumps(draft_json()))) == [("$", "SCHEMA_INVALID")]


@pytest.mark.parametrize("text", ["", " ", "null", "{", "NaN", '{"conclusion": NaN}', "[" * 100_000])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    assert faults(text) == [("$", "SCHEMA_INVALID")]


def test_a_key_that_occurs_twice_is_refused_at_any_depth() -> None:
    text = json.dumps(draft_json()).replace('"missing_info"', '"scope": "x", "missing_info"')
    assert faults(text) == [("$", "SCHEMA_INVALID")]


def test_a_conclusion_may_be_null_and_lists_may_be_empty() -> None:
    parsed = parse_draft(json.dumps(draft_json(conclusion=None, analysis=[], action_plan=[], recommendations=[])))
    assert parsed.conclusion is None


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"confidence": 0.9}, ["$.confidence"]),
        ({"conclusion": "text"}, ["$.conclusion"]),
        ({"conclusion": {"text": "", "based_on_analysis_ids": ["a1"]}}, ["$.conclusion.text"]),
        ({"conclusion": {"text": "   ", "based_on_analysis_ids": ["a1"]}}, ["$.conclusion.text"]),
        ({"conclusion": {"text": "a\0b", "based_on_analysis_ids": ["a1"]}}, ["$.conclusion.text"]),
        ({"conclusion": {"text": "x" * 2001, "based_on_analysis_ids": ["a1"]}}, ["$.conclusion.text"]),
        ({"conclusion": {"text": "x"}}, ["$.conclusion.based_on_analysis_ids"]),
        ({"limitations": {"scope": "x", "missing_info": ["y"] * 21}}, ["$.limitations.missing_info"]),
        ({"limitations": {"scope": "x", "missing_info": [3]}}, ["$.limitations.missing_info[0]"]),
        ({"limitations": None}, ["$.limitations"]),
        (
            {"action_plan": [{"action": "x", "based_on_analysis_ids": [], "requires_human_confirmation": "true"}]},
            ["$.action_plan[0].requires_human_confirmation"],
        ),
        (
            {"analysis": [{"analysis_id": "a1", "kind": "MAYBE", "text": "x", "tool_call_ids": "call_1"}]},
            ["$.analysis[0].kind", "$.analysis[0].tool_call_ids"],
        ),
        (
            {"recommendations": [{"text": "x", "based_on_analysis_ids": ["a1"], "hunter2 = x": 1}]},
            ["$.recommendations[0].*"],
        ),
    ],
)
def test_every_fault_is_named_by_its_path(changes: dict[str, Any], paths: list[str]) -> None:
    assert faults(json.dumps(draft_json(**changes))) == [(path, "SCHEMA_INVALID") for path in paths]


def test_all_missing_fields_are_named_at_once() -> None:
    names = ["conclusion", "analysis", "action_plan", "recommendations", "limitations"]
    assert [path for path, _ in faults("{}")] == [f"$.{name}" for name in names]


def test_texts_and_lists_at_their_bounds_are_read() -> None:
    limitations = {"scope": "x" * 2000, "missing_info": ["y"] * 20}
    assert len(parse_draft(json.dumps(draft_json(limitations=limitations))).limitations.missing_info) == 20


def test_broken_unicode_is_refused_because_it_could_not_be_sent() -> None:
    text = json.dumps(draft_json()).replace("slow queries", "\\ud800")
    assert faults(text) == [("$.limitations.missing_info[0]", "SCHEMA_INVALID")]


def test_messages_hold_nothing_of_the_reply() -> None:
    with pytest.raises(DraftInvalidError) as caught:
        parse_draft(json.dumps(draft_json(conclusion="hunter2")))
    assert "hunter2" not in str(caught.value) + "".join(error.message for error in caught.value.errors)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(list(DiagnosisDraft.model_fields)), json_values))
def test_no_json_crashes_the_parser(changes: dict[str, Any]) -> None:
    with suppress(DraftInvalidError):
        parse_draft(json.dumps(draft_json(**changes)))


@given(st.text())
def test_no_text_crashes_the_parser(text: str) -> None:
    with pytest.raises(DraftInvalidError):
        parse_draft(text)
