"""KNOWLEDGE_QUERY: one look-up, one answer, and only documents that were found."""

import json

import pytest

from audit.models import ToolInvocation
from tests.e2e.client import ChatClient
from tests.provider.replies import Reply, as_json, error, text
from tests.provider.server import Provider

QUESTION = "ERR_PAY_5003 是什么意思？"


@pytest.fixture(autouse=True)
def knowledge(provider: Provider) -> None:
    provider.always("intent_router", text("KNOWLEDGE_QUERY"))


def test_an_answer_names_its_documents(owner: ChatClient, provider: Provider) -> None:
    provider.script(
        "knowledge_answer",
        as_json({"answer": "支付服务内部超时。", "references": ["error-codes"], "limitations": ["仅据错误码表"]}),
    )
    stream = owner.ask(QUESTION)
    assert stream.outcome == "SUCCESS", stream.result
    assert stream.result.data["content_type"] == "KNOWLEDGE_ANSWER"
    payload = stream.result.data["payload"]
    assert list(payload) == ["answer", "references", "limitations"]
    assert {reference["document_id"] for reference in payload["references"]} == {"error-codes"}
    assert list(payload["references"][0]) == ["document_id", "source", "title", "breadcrumb", "excerpt"]
    assert any("ERR_PAY_5003" in reference["excerpt"] for reference in payload["references"])
    (request,) = provider.requests("knowledge_answer")
    assert "tools" not in request.body
    assert set(request.data()) == {"query", "evidence"}
    (row,) = ToolInvocation.objects.filter(run_id=stream.run_id)
    assert (row.tool_call_id, row.tool_name, row.status) == ("knowledge-1", "lookup_knowledge", "READY")


def test_nothing_found_is_a_fixed_answer_without_a_model(owner: ChatClient, provider: Provider) -> None:
    stream = owner.ask("红烧肉怎么做才不腻？")
    assert stream.outcome == "SUCCESS"
    payload = stream.result.data["payload"]
    assert payload["references"] == []
    assert payload["limitations"]
    assert provider.purposes() == ["intent_router"]


@pytest.mark.parametrize(
    "bad",
    [
        as_json({"answer": "x", "references": [], "limitations": []}),
        as_json({"answer": "x", "references": ["no-such-document"], "limitations": []}),
        as_json({"answer": "x", "references": ["error-codes"], "limitations": [], "extra": 1}),
        text("支付服务内部超时。"),
    ],
)
def test_an_answer_without_proper_references_is_a_fallback(owner: ChatClient, provider: Provider, bad: Reply) -> None:
    provider.script("knowledge_answer", bad)
    stream = owner.ask(QUESTION)
    assert stream.outcome == "FALLBACK"
    assert stream.result.data["payload"]["type"] == "EVIDENCE_VALIDATION_FAILED"
    assert "支付服务内部超时" not in json.dumps(stream.result.data, ensure_ascii=False)


def test_a_model_that_is_down_is_a_failure(owner: ChatClient, provider: Provider) -> None:
    provider.always("knowledge_answer", error(500))
    stream = owner.ask(QUESTION)
    assert stream.result.data["code"] == "MODEL_UNAVAILABLE"
    assert provider.purposes() == ["intent_router", "knowledge_answer"]
