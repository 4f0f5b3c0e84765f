"""Both guards and the release, over HTTP: what is published, what falls back, and what the guards are told."""

import json
from typing import Any

import pytest

from audit.models import DiagnosisTraceEvent
from tests.e2e.client import ChatClient, Stream
from tests.e2e.waiting import ended
from tests.provider.replies import CUT, EMPTY, RESET, Reply, Request, as_json, calls, cut_off, error, text
from tests.provider.script import KNOWLEDGE, LOGS, analysis, diagnose, draft, draft_from_results
from tests.provider.server import Provider

QUESTION = "订单支付超时，帮我排查"


def with_draft(made: dict[str, Any] | str) -> Any:
    """An agent that calls its tools and then says this."""

    def answer(request: Request) -> Reply:
        if not request.tool_results():
            return diagnose(request)
        return text(made if isinstance(made, str) else json.dumps(made, ensure_ascii=False))

    return answer


def checked(stream: Stream) -> list[dict[str, Any]]:
    """What EvidenceGuard recorded, first attempt first."""
    events = DiagnosisTraceEvent.objects.filter(run_id=stream.run_id, event_type="EVIDENCE_CHECKED")
    return [event.details for event in events.order_by("seq")]


A1 = analysis("a1", "call_logs")
UNKNOWN = {"action": "查看日志", "based_on_analysis_ids": ["a9"], "requires_human_confirmation": False}
RESTART = {"action": "重启 order-service", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": False}

BAD_DRAFTS: list[tuple[str, dict[str, Any] | str, str, str]] = [
    ("no JSON", "支付超时是因为连接池。", "SCHEMA_INVALID", "$"),
    ("extra field", {**draft([A1]), "severity": "high"}, "SCHEMA_INVALID", "$.severity"),
    ("twice the same id", draft([A1, A1]), "DUPLICATE_ANALYSIS_ID", "$.analysis[1].analysis_id"),
    ("no citation", draft([{**A1, "tool_call_ids": []}]), "EMPTY_TOOL_CALL_IDS", "$.analysis[0].tool_call_ids"),
    ("made-up call", draft([analysis("a1", "call_9")]), "UNKNOWN_TOOL_CALL", "$.analysis[0].tool_call_ids[0]"),
    (
        "positive evidence as a negative observation",
        draft([analysis("a1", "call_logs", kind="NEGATIVE_OBSERVATION")]),
        "KIND_MISMATCH",
        "$.analysis[0].tool_call_ids[0]",
    ),
    (
        "a recommendation without analysis",
        draft([A1], recommendations=[{"text": "加告警", "based_on_analysis_ids": []}]),
        "EMPTY_ANALYSIS_REFS",
        "$.recommendations[0].based_on_analysis_ids",
    ),
    (
        "an action on an analysis that is not there",
        draft([A1], action_plan=[UNKNOWN]),
        "UNKNOWN_ANALYSIS_ID",
        "$.action_plan[0].based_on_analysis_ids[0]",
    ),
    ("a dangerous action", draft([A1], action_plan=[RESTART]), "CONFIRMATION_REQUIRED", "$.action_plan[0]"),
]


@pytest.mark.parametrize(("name", "made", "code", "path"), BAD_DRAFTS, ids=[case[0] for case in BAD_DRAFTS])
def test_a_faulty_draft_is_repaired_once_and_published(
    owner: ChatClient, provider: Provider, name: str, made: dict[str, Any] | str, code: str, path: str
) -> None:
    provider.always("diagnosis", with_draft(made))
    stream = owner.ask(QUESTION)
    assert stream.outcome == "SUCCESS", stream.result
    assert "EVIDENCE_REPAIRING" in stream.statuses()
    (repair,) = provider.requests("evidence_repair")
    assert "tools" not in repair.body
    told = json.loads(repair.messages[-1]["content"])["errors"]
    found = [(item["path"], item["code"]) for item in told]
    assert any(item_code == code and item_path.startswith(path) for item_path, item_code in found), found
    assert [attempt["passed"] for attempt in checked(stream)] == [False, True]


def test_all_errors_are_told_at_once(owner: ChatClient, provider: Provider) -> None:
    made = draft([analysis("a1", "call_9"), {**A1, "tool_call_ids": []}], action_plan=[UNKNOWN, RESTART])
    provider.always("diagnosis", with_draft(made))
    owner.ask(QUESTION)
    told = json.loads(provider.requests("evidence_repair")[0].messages[-1]["content"])["errors"]
    assert {item["code"] for item in told} >= {
        "UNKNOWN_TOOL_CALL",
        "EMPTY_TOOL_CALL_IDS",
        "UNKNOWN_ANALYSIS_ID",
        "CONFIRMATION_REQUIRED",
        "DUPLICATE_ANALYSIS_ID",
    }


@pytest.mark.parametrize("again", [text("still no JSON"), EMPTY, cut_off(json.dumps(draft([A1])))])
def test_a_draft_that_stays_faulty_is_a_fallback_without_sources(
    owner: ChatClient, provider: Provider, again: Reply
) -> None:
    provider.always("diagnosis", with_draft("SECRET-DRAFT words"))
    provider.script("evidence_repair", again)
    stream = owner.ask(QUESTION)
    assert stream.outcome == "FALLBACK"
    payload = stream.result.data["payload"]
    assert stream.result.data["content_type"] == "FALLBACK"
    assert list(payload) == ["type", "conclusion", "message", "verified_sources", "limitations", "next_steps"]
    assert (payload["type"], payload["conclusion"]) == ("EVIDENCE_VALIDATION_FAILED", None)
    assert payload["verified_sources"] == []
    assert "SECRET-DRAFT" not in json.dumps(stream.result.data)
    assert provider.purposes().count("evidence_repair") == 1
    assert "semantic_guard" not in provider.purposes()
    assert ended(stream.run_id).fallback_type == "EVIDENCE_VALIDATION_FAILED"


def test_another_runs_call_cannot_be_cited(owner: ChatClient, provider: Provider) -> None:
    only = [{**KNOWLEDGE, "id": "call_of_the_first"}]
    provider.script("diagnosis", calls(only), draft_from_results)
    first = owner.ask(QUESTION)
    assert first.outcome == "SUCCESS"
    provider.script("diagnosis", calls([LOGS]), as_json(draft([analysis("a1", "call_of_the_first")])))
    provider.script("evidence_repair", as_json(draft([analysis("a1", "call_of_the_first")])))
    second = owner.ask(QUESTION, first.session_id)
    assert second.outcome == "FALLBACK"
    assert [error["code"] for error in checked(second)[0]["errors"]] == ["UNKNOWN_TOOL_CALL"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"topic": "APPLICATION", "query": "nothing-like-this-anywhere"}, "KIND_MISMATCH"),
        ({"topic": "NO_SUCH_TOPIC", "query": "order-service"}, "NOT_CITABLE"),
    ],
    ids=["NO_EVIDENCE", "ERROR"],
)
def test_nothing_found_and_errors_are_no_normal_evidence(
    owner: ChatClient, provider: Provider, arguments: dict[str, str], code: str
) -> None:
    asked = {**LOGS, "function": {"name": "query_logs", "arguments": json.dumps(arguments)}}
    provider.script("diagnosis", calls([asked]), as_json(draft([A1])))
    stream = owner.ask(QUESTION)
    codes = [error["code"] for error in checked(stream)[0]["errors"]]
    assert set(codes) & {code, "TOOL_CALL_NOT_READY"}, codes


def test_a_negative_observation_is_published_with_its_scope(owner: ChatClient, provider: Provider) -> None:
    arguments = json.dumps({"topic": "APPLICATION", "query": "nothing-like-this-anywhere", "lookback_minutes": 10})
    asked = {**LOGS, "function": {"name": "query_logs", "arguments": arguments}}
    provider.script("diagnosis", calls([asked]))
    stream = owner.ask(QUESTION)
    assert stream.outcome == "SUCCESS", stream.result
    (reference,) = stream.result.data["payload"]["references"]
    assert "nothing-like-this-anywhere" in json.dumps(reference["scope"], ensure_ascii=False)
    assert reference["source_kind"] == "MOCK"


def test_figures_are_measured_but_no_gate(owner: ChatClient, provider: Provider) -> None:
    provider.always("diagnosis", with_draft(draft([analysis("a1", "call_logs", "发生了 98765 次 ERR_NOT_THERE")])))
    stream = owner.ask(QUESTION)
    assert stream.outcome == "SUCCESS"
    (attempt,) = checked(stream)
    assert attempt["figures_total"] == 2
    assert attempt["figures_found"] == 0
    assert set(attempt["figures_missing"]) == {"98765", "ERR_NOT_THERE"}


def test_the_semantic_guard_sees_draft_and_evidence_and_nothing_else(owner: ChatClient, provider: Provider) -> None:
    stream = owner.ask(QUESTION)
    (request,) = provider.requests("semantic_guard")
    assert set(request.body) & {"tools", "tool_choice", "functions"} == set()
    assert [message["role"] for message in request.messages] == ["system", "user"]
    data = request.data()
    assert set(data) == {"query", "draft", "evidence"}
    assert data["query"] == QUESTION
    whole = json.dumps(request.body, ensure_ascii=False)
    assert "tool_call_id" not in whole
    assert "call_logs" not in whole
    assert {item["source_type"] for entry in data["evidence"] for item in entry["verified_evidence"]} == {
        "KNOWLEDGE",
        "LOG",
        "MYSQL",
    }
    assert stream.outcome == "SUCCESS"


def test_the_report_is_the_draft_word_for_word_with_references(owner: ChatClient, provider: Provider) -> None:
    stream = owner.ask(QUESTION)
    payload = stream.result.data["payload"]
    sent = json.loads(provider.requests("semantic_guard")[0].messages[1]["content"])["draft"]
    for part in ("conclusion", "action_plan", "recommendations", "limitations"):
        assert payload[part] == sent[part]
    assert [item["text"] for item in payload["analysis"]] == [item["text"] for item in sent["analysis"]]
    used = [name for item in payload["analysis"] for name in item["reference_ids"]]
    assert used == ["R1", "R2", "R3"]
    assert [reference["reference_id"] for reference in payload["references"]] == used
    assert "tool_call_ids" not in json.dumps(payload)
    kinds = [reference["source_type"] for reference in payload["references"]]
    assert kinds == ["KNOWLEDGE", "LOG", "MYSQL"]
    for reference, keys in zip(
        payload["references"], ({"excerpts"}, {"patterns", "events"}, {"columns", "rows"}), strict=True
    ):
        assert keys <= set(reference)


def test_an_unsupported_report_is_a_fallback_with_its_sources_and_not_tried_again(
    owner: ChatClient, provider: Provider
) -> None:
    provider.script("semantic_guard", as_json({"verdict": "UNSUPPORTED", "reason": "SECRET-REASON"}))
    stream = owner.ask(QUESTION)
    assert stream.outcome == "FALLBACK"
    payload = stream.result.data["payload"]
    assert payload["type"] == "SEMANTIC_UNSUPPORTED"
    assert [set(source) for source in payload["verified_sources"]] == [{"source_type", "source", "scope"}] * 3
    assert provider.purposes().count("semantic_guard") == 1
    whole = json.dumps([event.data for event in stream.events], ensure_ascii=False)
    assert "SECRET-REASON" not in whole
    assert "支付超时与数据库连接池耗尽有关" not in whole
    decided = DiagnosisTraceEvent.objects.get(run_id=stream.run_id, event_type="SEMANTIC_DECIDED")
    assert decided.details["reason"] == "SECRET-REASON"


MALFORMED: list[Reply] = [
    text("SUPPORTED"),
    as_json({"verdict": "SUPPORTED"}),
    as_json({"verdict": "supported", "reason": "x"}),
    as_json({"verdict": "SUPPORTED", "reason": "x", "confidence": 0.9}),
    as_json({"verdict": "SUPPORTED", "reason": 1}),
    text('Sure: {"verdict": "SUPPORTED", "reason": "x"}'),
    text('{"verdict": "SUPPORTED", "verdict": "UNSUPPORTED", "reason": "x"}'),
    cut_off('{"verdict": "SUPPORTED", "reason": "x"}'),
    EMPTY,
    error(500),
    RESET,
    CUT,
]


@pytest.mark.parametrize("bad", MALFORMED, ids=range(len(MALFORMED)))
def test_a_technical_failure_of_the_guard_is_tried_once_more(owner: ChatClient, provider: Provider, bad: Reply) -> None:
    provider.script("semantic_guard", bad)
    stream = owner.ask(QUESTION)
    assert stream.outcome == "SUCCESS"
    first, second = provider.requests("semantic_guard")
    assert first.body == second.body


@pytest.mark.parametrize("bad", [text("SUPPORTED"), error(503)])
def test_two_technical_failures_are_a_fallback(owner: ChatClient, provider: Provider, bad: Reply) -> None:
    provider.always("semantic_guard", bad)
    stream = owner.ask(QUESTION)
    assert stream.outcome == "FALLBACK"
    assert stream.result.data["payload"]["type"] == "SEMANTIC_UNAVAILABLE"
    assert len(stream.result.data["payload"]["verified_sources"]) == 3
    assert provider.purposes().count("semantic_guard") == 2


def test_a_fallback_is_in_the_users_language(client_of: Any, server: Any, provider: Provider) -> None:
    provider.always("semantic_guard", as_json({"verdict": "UNSUPPORTED", "reason": "x"}))
    english = client_of("owner", server, "en").ask(QUESTION).result.data["payload"]["message"]
    chinese = client_of("owner", server, "zh-hans").ask(QUESTION).result.data["payload"]["message"]
    assert english.isascii()
    assert chinese == "当前证据不足，无法确认根因。"


def test_a_fallback_is_no_previous_turn(owner: ChatClient, provider: Provider) -> None:
    provider.script("semantic_guard", as_json({"verdict": "UNSUPPORTED", "reason": "x"}))
    first = owner.ask(QUESTION)
    owner.ask("然后呢？", first.session_id)
    assert provider.requests("diagnosis")[-1].data()["previous_turn"] is None
