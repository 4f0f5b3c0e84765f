"""What the agent sees of a look-up: bounded, masked slices, and nothing of the search itself."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import redact_text
from harness.tools.lookup_knowledge import KnowledgeTool, LookupArguments, LookupLimits

TOOL = KnowledgeTool(10)
ASKED = LookupArguments(query="支付超时")

passages = st.lists(
    st.fixed_dictionaries(
        {
            "document_id": st.sampled_from(["a", "b", "c"]),
            "source": st.just("a.md"),
            "title": st.just("A"),
            "breadcrumb": st.just("A > B"),
            "excerpt": st.text(min_size=1, max_size=3000),
            "score": st.floats(0, 1),
        }
    ),
    max_size=12,
)


@given(passages)
def test_a_projection_keeps_its_limits_and_says_when_something_is_missing(found: list[dict[str, Any]]) -> None:
    limits = LookupLimits()
    result = TOOL.project({"passages": found}, ASKED, "call_1")
    evidence = result["evidence"]
    assert result == TOOL.project({"passages": found}, ASKED, "call_1")
    assert list(result) == ["evidence_status", "tool_call_id", "query", "evidence", "returned_count", "truncated"]
    assert len(evidence) == result["returned_count"] <= limits.max_excerpts
    assert sum(len(entry["excerpt"]) for entry in evidence) <= limits.max_characters
    whole = {(entry["document_id"], entry["excerpt"]) for entry in found}
    for entry in evidence:
        assert list(entry) == ["document_id", "source", "title", "breadcrumb", "excerpt"]
        assert len(entry["excerpt"]) <= limits.max_excerpt_characters
        assert any(redact_text(text).startswith(entry["excerpt"]) for _, text in whole)
    complete = {(entry["document_id"], entry["excerpt"]) for entry in evidence}
    assert result["truncated"] == (complete != {(document, redact_text(text)) for document, text in whole})
    assert result["evidence_status"] == ("EVIDENCE_FOUND" if evidence else "NO_EVIDENCE")
    json.dumps(result, allow_nan=False)


def test_secrets_of_a_document_are_masked() -> None:
    passage = {"document_id": "a", "source": "a.md", "title": "A", "breadcrumb": "", "score": 1.0}
    raw = {"passages": [{**passage, "excerpt": "login with password=hunter2secret"}]}
    result = TOOL.project(raw, ASKED, "call_1")
    assert result["evidence"][0]["excerpt"] == "login with password=[REDACTED:password]"


def test_two_spellings_of_a_question_are_one() -> None:
    assert TOOL.normalise(LookupArguments(query=" ERR_Timeout  支付 ")) == TOOL.normalise(
        LookupArguments(query="err_timeout 支付")
    )
