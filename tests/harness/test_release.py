import json
from typing import Any

import pytest

from harness.release import FallbackType, fallback_payload, published_result, report_payload
from harness.snapshot import VerifiedSource
from harness.sources import SourceType
from tests.harness.drafts import analysis, draft, draft_json, knowledge_call, log_call, mysql_call

CALLS = {"call_1": log_call(), "call_2": mysql_call(), "call_3": knowledge_call()}
SOURCE = VerifiedSource(source_type=SourceType.LOG, source="APPLICATION (MOCK)", scope="“timeout”")
MADE = draft(analysis=[analysis("a1", cites="call_2 call_1"), analysis("a2", cites="call_3 call_2")])


def test_the_report_has_its_keys_in_order() -> None:
    payload = report_payload(MADE, CALLS)
    assert list(payload) == ["conclusion", "analysis", "action_plan", "recommendations", "limitations", "references"]
    assert [list(each) for each in payload["analysis"]] == [["analysis_id", "kind", "text", "reference_ids"]] * 2


def test_the_draft_is_released_word_for_word() -> None:
    payload = report_payload(MADE, CALLS)
    given = draft_json()
    for name in ("conclusion", "action_plan", "recommendations", "limitations"):
        assert payload[name] == given[name]


def test_references_are_numbered_in_order_of_first_use() -> None:
    payload = report_payload(MADE, CALLS)
    assert [each["reference_ids"] for each in payload["analysis"]] == [["R1", "R2"], ["R3", "R1"]]
    assert [each["reference_id"] for each in payload["references"]] == ["R1", "R2", "R3"]
    assert [each["source_type"] for each in payload["references"]] == ["MYSQL", "LOG", "KNOWLEDGE"]


def test_each_source_type_has_its_fields_in_order() -> None:
    common = ["reference_id", "source_type", "source"]
    mysql, log, knowledge = report_payload(MADE, CALLS)["references"]
    assert list(mysql) == [*common, "scope", "timestamp", "columns", "rows"]
    assert list(log) == [*common, "source_kind", "scope", "timestamp", "patterns", "events"]
    assert list(knowledge) == [*common, "scope", "timestamp", "excerpts"]
    assert list(knowledge["excerpts"][0]) == ["document_id", "source", "title", "breadcrumb", "excerpt"]
    assert (log["source"], log["source_kind"]) == ("APPLICATION (MOCK)", "MOCK")
    assert mysql["timestamp"] == "2026-10-01T04:00:05+00:00"


def test_only_cited_calls_are_referenced_and_no_tool_call_id_is_shown() -> None:
    payload = report_payload(draft(analysis=[analysis(cites="call_3")]), CALLS)
    assert [each["source_type"] for each in payload["references"]] == ["KNOWLEDGE"]
    assert "call_" not in json.dumps(report_payload(MADE, CALLS))


def test_a_null_conclusion_stays_null() -> None:
    assert report_payload(draft(conclusion=None), CALLS)["conclusion"] is None


@pytest.mark.parametrize("kind", list(FallbackType))
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_a_fallback_has_fixed_words_and_its_keys_in_order(kind: FallbackType, language: str) -> None:
    payload = fallback_payload(kind, language, [SOURCE])
    assert list(payload) == ["type", "conclusion", "message", "verified_sources", "limitations", "next_steps"]
    assert (payload["type"], payload["conclusion"]) == (kind.value, None)
    words = [payload["message"], *payload["limitations"], *payload["next_steps"]]
    assert all(any("\u4e00" <= char <= "\u9fff" for char in text) is (language == "zh-hans") for text in words)


def test_every_fallback_says_something_else_in_each_language() -> None:
    messages = {
        fallback_payload(kind, language, [])["message"] for kind in FallbackType for language in ("zh-hans", "en")
    }
    assert len(messages) == 6


def test_sources_are_shown_unless_the_evidence_check_failed() -> None:
    shown = [{"source_type": "LOG", "source": "APPLICATION (MOCK)", "scope": "“timeout”"}]
    assert fallback_payload(FallbackType.SEMANTIC_UNSUPPORTED, "en", [SOURCE])["verified_sources"] == shown
    assert fallback_payload(FallbackType.SEMANTIC_UNAVAILABLE, "zh-hans", [SOURCE])["verified_sources"] == shown
    assert fallback_payload(FallbackType.EVIDENCE_VALIDATION_FAILED, "en", [SOURCE])["verified_sources"] == []


def test_the_published_result_names_documents_once_and_no_evidence() -> None:
    result = published_result("why?", MADE, CALLS).model_dump(mode="json")
    assert result == {
        "user_query": "why?",
        "published_conclusion": "Pool exhausted.",
        "scope": "order-service, 30 minutes",
        "limitations": ["slow queries"],
        "source_documents": [{"document_id": "payment-timeout-guide", "title": "支付超时排查手册"}],
    }


@pytest.mark.parametrize("extra", [0, 1])
def test_the_published_result_is_bounded_at_each_edge(extra: int) -> None:
    passages = [{"document_id": f"d{n}", "title": "t" * (200 + extra)} for n in range(10 + extra)]
    made = draft(
        conclusion={"text": "c" * (1000 + extra), "based_on_analysis_ids": ["a1"]},
        analysis=[analysis(cites="call_3")],
        limitations={"scope": "s" * (500 + extra), "missing_info": ["m" * (200 + extra)] * (10 + extra)},
    )
    result: dict[str, Any] = published_result(
        "q" * (500 + extra), made, {"call_3": knowledge_call(evidence=passages)}
    ).model_dump()
    assert len(result["user_query"]) == len(result["scope"]) == 500
    assert len(result["published_conclusion"]) == 1000
    assert [len(text) for text in result["limitations"]] == [200] * 10
    assert [len(each["title"]) for each in result["source_documents"]] == [200] * 10


def test_no_conclusion_is_published_as_none() -> None:
    assert published_result("why?", draft(conclusion=None), CALLS).published_conclusion is None
