from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evidence_guard import check_evidence
from harness.recorder import ToolCallStatus
from harness.report import MAX_ITEMS
from harness.tools.base import EvidenceStatus
from tests.harness.drafts import Call, analysis, draft, log_call

READY, PROJECTING, ERROR = ToolCallStatus.READY, ToolCallStatus.PROJECTING, ToolCallStatus.ERROR
FOUND, NOTHING, FAILED = EvidenceStatus.EVIDENCE_FOUND, EvidenceStatus.NO_EVIDENCE, EvidenceStatus.ERROR


def codes(changes: dict[str, Any], calls: dict[str, Call], *, require_figures: bool = False) -> list[tuple[str, str]]:
    check = check_evidence(draft(**changes), calls, require_figures=require_figures)
    assert all(error.message for error in check.errors)
    return [(error.path, error.code) for error in check.errors]


def test_a_draft_whose_citations_hold_has_no_errors() -> None:
    assert codes({}, {"call_1": Call()}) == []


@pytest.mark.parametrize(
    ("kind", "call", "code"),
    [
        ("NORMAL", Call(), None),
        ("NORMAL", Call(evidence_status=NOTHING), "KIND_MISMATCH"),
        ("NEGATIVE_OBSERVATION", Call(), "KIND_MISMATCH"),
        ("NEGATIVE_OBSERVATION", Call(evidence_status=NOTHING), None),
        ("NORMAL", Call(status=ERROR, evidence_status=FAILED, agent_result=None), "NOT_CITABLE"),
        ("NEGATIVE_OBSERVATION", Call(status=ERROR, evidence_status=FAILED, agent_result=None), "NOT_CITABLE"),
        ("NORMAL", Call(evidence_status=FAILED), "NOT_CITABLE"),
        ("NORMAL", Call(evidence_status=None), "NOT_CITABLE"),
        ("NORMAL", Call(status=PROJECTING, evidence_status=None, agent_result=None), "TOOL_CALL_NOT_READY"),
        ("NORMAL", Call(agent_result=None), "MISSING_AGENT_RESULT"),
        ("NORMAL", None, "UNKNOWN_TOOL_CALL"),
    ],
)
def test_a_citation_must_be_ready_found_and_of_its_kind(kind: str, call: Call | None, code: str | None) -> None:
    calls = {} if call is None else {"call_1": call}
    expected = [] if code is None else [("$.analysis[0].tool_call_ids[0]", code)]
    assert codes({"analysis": [analysis(kind=kind)]}, calls) == expected


def test_an_analysis_cites_at_least_one_call() -> None:
    assert codes({"analysis": [analysis(cites="")]}, {}) == [("$.analysis[0].tool_call_ids", "EMPTY_TOOL_CALL_IDS")]


def test_analysis_ids_are_unique() -> None:
    found = codes({"analysis": [analysis(), analysis(), analysis()]}, {"call_1": Call()})
    assert found == [(f"$.analysis[{n}].analysis_id", "DUPLICATE_ANALYSIS_ID") for n in (1, 2)]


@pytest.mark.parametrize(
    ("refs", "suffix", "code"),
    [([], "", "EMPTY_ANALYSIS_REFS"), (["a1", "a9"], "[1]", "UNKNOWN_ANALYSIS_ID")],
)
def test_conclusion_actions_and_recommendations_rest_on_analyses(refs: list[str], suffix: str, code: str) -> None:
    changes = {
        "conclusion": {"text": "x", "based_on_analysis_ids": refs},
        "action_plan": [{"action": "Look", "based_on_analysis_ids": refs, "requires_human_confirmation": False}],
        "recommendations": [{"text": "x", "based_on_analysis_ids": refs}],
    }
    places = ["$.conclusion", "$.action_plan[0]", "$.recommendations[0]"]
    expected = [(f"{place}.based_on_analysis_ids{suffix}", code) for place in places]
    assert codes(changes, {"call_1": Call()}) == expected


def test_an_operation_without_confirmation_is_refused() -> None:
    action = {"action": "重启 order-service", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": False}
    found = codes({"action_plan": [action]}, {"call_1": Call()})
    assert found == [("$.action_plan[0].requires_human_confirmation", "CONFIRMATION_REQUIRED")]


def test_all_errors_come_at_once() -> None:
    changes = {
        "conclusion": {"text": "x", "based_on_analysis_ids": ["a7"]},
        "analysis": [analysis(cites="call_9 call_1"), analysis(cites="")],
        "action_plan": [{"action": "Kill it", "based_on_analysis_ids": [], "requires_human_confirmation": False}],
        "recommendations": [{"text": "x", "based_on_analysis_ids": ["a8"]}],
    }
    assert codes(changes, {"call_1": Call(evidence_status=NOTHING)}) == [
        ("$.analysis[0].tool_call_ids[0]", "UNKNOWN_TOOL_CALL"),
        ("$.analysis[0].tool_call_ids[1]", "KIND_MISMATCH"),
        ("$.analysis[1].analysis_id", "DUPLICATE_ANALYSIS_ID"),
        ("$.analysis[1].tool_call_ids", "EMPTY_TOOL_CALL_IDS"),
        ("$.conclusion.based_on_analysis_ids[0]", "UNKNOWN_ANALYSIS_ID"),
        ("$.action_plan[0].based_on_analysis_ids", "EMPTY_ANALYSIS_REFS"),
        ("$.action_plan[0].requires_human_confirmation", "CONFIRMATION_REQUIRED"),
        ("$.recommendations[0].based_on_analysis_ids[0]", "UNKNOWN_ANALYSIS_ID"),
    ]


def test_figures_are_a_measure_unless_required() -> None:
    changes = {"analysis": [analysis(text="84 matches, 99 failures of ERR_TIMEOUT")]}
    check = check_evidence(draft(**changes), {"call_1": log_call()}, require_figures=False)
    assert check.errors == []
    assert (check.figures.total, check.figures.found, check.figures.missing) == (3, 2, ["99"])
    assert codes(changes, {"call_1": log_call()}, require_figures=True) == [
        ("$.analysis[0].text", "FIGURE_NOT_IN_EVIDENCE")
    ]


def test_figures_are_looked_for_in_the_cited_calls_only() -> None:
    changes = {"analysis": [analysis(text="84 matches", cites="call_2")]}
    calls = {"call_1": log_call(), "call_2": Call(agent_result={"match_count": 12})}
    assert check_evidence(draft(**changes), calls, require_figures=False).figures.missing == ["84"]


ids = st.sampled_from(["a1", "a2", "call_1", "call_2", "", "x" * 128]).filter(bool)
statuses = st.sampled_from(list(ToolCallStatus))
evidence = st.none() | st.sampled_from(list(EvidenceStatus))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
results = st.none() | st.dictionaries(st.sampled_from(["scope", "rows", "events", "evidence", "x"]), json_values)
calls_of_a_run = st.dictionaries(
    ids, st.builds(Call, status=statuses, evidence_status=evidence, agent_result=results), max_size=4
)
refs = st.lists(ids, max_size=3)
words = st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip()) and "\0" not in text)
drafts = st.builds(
    draft,
    conclusion=st.none() | st.fixed_dictionaries({"text": words, "based_on_analysis_ids": refs}),
    analysis=st.lists(
        st.fixed_dictionaries(
            {
                "analysis_id": ids,
                "kind": st.sampled_from(["NORMAL", "NEGATIVE_OBSERVATION"]),
                "text": words,
                "tool_call_ids": refs,
            }
        ),
        max_size=MAX_ITEMS,
    ),
)


@given(drafts, calls_of_a_run, st.booleans())
def test_no_draft_and_no_record_crash_the_guard(made: Any, calls: dict[str, Call], require: bool) -> None:
    check = check_evidence(made, calls, require_figures=require)
    figures = check.figures
    assert figures.total - figures.found == len(figures.missing)
    cited = [each for item in made.analysis for each in item.tool_call_ids]
    if not check.errors:
        assert all(calls[each].status is READY and calls[each].agent_result is not None for each in cited)
