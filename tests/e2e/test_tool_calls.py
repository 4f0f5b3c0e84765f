"""Whatever a model asks for passes the boundary: each call gets a result under its id, and the run goes on."""

import json
from typing import Any

import pytest

from audit.models import ToolInvocation
from tests.e2e.client import ChatClient
from tests.e2e.waiting import ended
from tests.provider.replies import call, calls
from tests.provider.script import KNOWLEDGE, LOGS, draft_from_results
from tests.provider.server import Provider

QUESTION = "订单支付超时，帮我排查"
ASK_LOGS = {"topic": "APPLICATION", "query": "order-service"}


def results(provider: Provider) -> list[tuple[str, dict[str, Any]]]:
    """The tool messages of the agent's last request: id on the wire, and result."""
    last = provider.requests("diagnosis")[-1]
    messages = [message for message in last.messages if message["role"] == "tool"]
    return [(message["tool_call_id"], json.loads(message["content"])) for message in messages]


BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("no id", call(None, "query_logs", ASK_LOGS), "INVALID_TOOL_CALL_ID"),
    ("empty id", call("", "query_logs", ASK_LOGS), "INVALID_TOOL_CALL_ID"),
    ("malformed id", call("call 1", "query_logs", ASK_LOGS), "INVALID_TOOL_CALL_ID"),
    ("over-long id", call("c" * 129, "query_logs", ASK_LOGS), "INVALID_TOOL_CALL_ID"),
    ("unknown tool", call("call_1", "query_metrics", {"query": "cpu"}), "UNKNOWN_TOOL"),
    ("arguments that are no JSON", call("call_1", "query_logs", "{topic: APPLICATION"), "INVALID_ARGUMENTS"),
    ("an extra field", call("call_1", "query_logs", {**ASK_LOGS, "limit": 5}), "INVALID_ARGUMENTS"),
    ("an unknown topic", call("call_1", "query_logs", {"topic": "NOPE", "query": "x"}), "INVALID_ARGUMENTS"),
    ("a lookback too far", call("call_1", "query_logs", {**ASK_LOGS, "lookback_minutes": 1441}), "INVALID_ARGUMENTS"),
    ("a query that is not closed", call("call_1", "query_logs", {**ASK_LOGS, "query": '"open'}), "INVALID_ARGUMENTS"),
    (
        "a statement that writes",
        call("call_1", "query_mysql", {"data_source": "order_readonly", "sql": "DELETE FROM biz_order", "params": []}),
        "NOT_ALLOWED",
    ),
    (
        "a column that is not allowed",
        call("call_1", "query_mysql", {"data_source": "order_readonly", "sql": "SELECT phone FROM biz_order"}),
        "NOT_ALLOWED",
    ),
]


@pytest.mark.parametrize(("name", "made", "code"), BAD_CALLS, ids=[case[0] for case in BAD_CALLS])
def test_a_bad_call_is_an_error_result_and_the_run_goes_on(
    owner: ChatClient, provider: Provider, name: str, made: dict[str, Any], code: str
) -> None:
    provider.script("diagnosis", calls([made, KNOWLEDGE]), draft_from_results)
    stream = owner.ask(QUESTION)
    assert stream.outcome == "SUCCESS", stream.result
    (wire_id, bad), (_, good) = results(provider)
    assert wire_id == (made.get("id") or "")
    assert (bad["evidence_status"], bad["error"]["code"]) == ("ERROR", code)
    assert bad["error"]["message"]
    assert good["evidence_status"] == "EVIDENCE_FOUND"
    rows = ToolInvocation.objects.filter(run_id=stream.run_id)
    assert {(row.status, row.error_code) for row in rows} == {("ERROR", code), ("READY", None)}
    assert ended(stream.run_id).tool_calls == 2


def test_two_equal_ids_in_one_reply_run_once(owner: ChatClient, provider: Provider) -> None:
    twice = call("call_1", "query_logs", ASK_LOGS)
    other = call("call_1", "query_logs", {**ASK_LOGS, "query": "payment"})
    provider.script("diagnosis", calls([twice, other]), draft_from_results)
    owner.ask(QUESTION)
    (first_id, first), (second_id, second) = results(provider)
    assert first_id == second_id == "call_1"
    assert first["scope"]["query"] == "order-service"
    assert second["error"]["code"] == "INVALID_TOOL_CALL_ID"


def test_an_id_of_an_earlier_reply_is_not_taken_again(owner: ChatClient, provider: Provider) -> None:
    again = call("call_logs", "query_logs", {**ASK_LOGS, "query": "payment"})
    provider.script("diagnosis", calls([LOGS]), calls([again]), draft_from_results)
    owner.ask(QUESTION)
    assert [result.get("error", {}).get("code") for _, result in results(provider)] == [None, "INVALID_TOOL_CALL_ID"]


def test_the_same_question_is_asked_once(owner: ChatClient, provider: Provider) -> None:
    again = {**LOGS, "id": "call_again"}
    provider.script("diagnosis", calls([LOGS]), calls([again]), draft_from_results)
    owner.ask(QUESTION)
    repeated = results(provider)[1][1]
    assert repeated["error"]["code"] == "REPEATED_QUERY"
    assert "call_logs" in repeated["error"]["message"]


def test_reasoning_is_kept_apart_and_never_sent_back(owner: ChatClient, provider: Provider) -> None:
    provider.script("diagnosis", calls([LOGS], reasoning_content="PLANTED-REASONING"), draft_from_results)
    stream = owner.ask(QUESTION)
    assert "PLANTED-REASONING" not in json.dumps([request.body for request in provider.requests()])
    assert "PLANTED-REASONING" not in json.dumps([event.data for event in stream.events])
    from audit.models import AgentReasoningAudit

    kept = AgentReasoningAudit.objects.filter(run_id=stream.run_id, reasoning_available=True)
    assert [(row.provider_field, row.content_bytes) for row in kept] == [("reasoning_content", 17)]
    assert b"PLANTED" not in bytes(str(kept[0].reasoning_content), "utf-8")


def test_each_request_says_what_it_is_for(owner: ChatClient, provider: Provider) -> None:
    stream = owner.ask(QUESTION)
    assert provider.purposes() == ["intent_router", "diagnosis", "diagnosis", "semantic_guard"]
    assert {request.run_id for request in provider.requests()} == {str(stream.run_id)}
    (first, second) = provider.requests("diagnosis")
    assert second.messages[: len(first.messages)] == first.messages
    assert [tool["function"]["name"] for tool in first.body["tools"]] == [
        "lookup_knowledge",
        "query_logs",
        "query_mysql",
    ]
