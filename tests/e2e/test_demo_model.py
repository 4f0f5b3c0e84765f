"""The whole product on the demo model: no provider, real tools on the demo's incident, a report that is released."""

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.client import ChatClient
from tests.e2e.conftest import Serve
from tests.e2e.server import Server


@pytest.fixture(scope="module")
def demo(serve_with: Serve) -> Iterator[Server]:
    with serve_with(SUPERBIZ_MODEL="demo/offline") as server:
        yield server


@pytest.fixture
def asker(client_of: Callable[..., ChatClient], demo: Server) -> ChatClient:
    return client_of("owner", demo)


@pytest.mark.parametrize(
    ("question", "by"),
    [
        ("订单支付超时，帮我排查", "离线演示模型"),
        ("Orders time out when paying. Please investigate.", "offline demo model"),
        ("How many payments failed in the last hour, and why?", "offline demo model"),
    ],
)
def test_the_incident_gets_a_report_from_all_three_kinds_of_evidence(asker: ChatClient, question: str, by: str) -> None:
    stream = asker.ask(question)
    assert (stream.outcome, stream.result.data.get("content_type")) == ("SUCCESS", "DIAGNOSIS_REPORT")
    payload = stream.result.data["payload"]
    assert {each["source_type"] for each in payload["references"]} == {"KNOWLEDGE", "LOG", "MYSQL"}
    assert payload["conclusion"] is not None
    assert "MOCK" in payload["conclusion"]["text"]
    assert by in payload["limitations"]["scope"]
    assert any(each["requires_human_confirmation"] for each in payload["action_plan"])


def test_a_follow_up_is_understood_by_the_turn_before(asker: ChatClient) -> None:
    first = asker.ask("订单支付超时，帮我排查")
    second = asker.ask("最近 2 小时呢？", first.session_id)
    assert second.result.data["content_type"] == "DIAGNOSIS_REPORT"
    logs = [each for each in second.result.data["payload"]["references"] if each["source_type"] == "LOG"]
    assert logs


def test_a_question_about_knowledge_is_answered_from_the_runbooks(asker: ChatClient) -> None:
    stream = asker.ask("ERR_PAY_5003 是什么意思？")
    assert stream.result.data["content_type"] == "KNOWLEDGE_ANSWER"
    payload = stream.result.data["payload"]
    assert payload["references"]
    assert "演示模型" in payload["limitations"][0]


def test_small_talk_gets_no_look_ups(asker: ChatClient) -> None:
    stream = asker.ask("What can you do?")
    assert stream.result.data["content_type"] == "SYSTEM_ANSWER"
    assert "demo model" in stream.result.data["payload"]["answer"]
    assert "TOOL_RUNNING" not in stream.statuses()


def test_what_the_data_cannot_answer_ends_in_limitations(asker: ChatClient) -> None:
    stream = asker.ask("zebra-printer-service 打印任务卡住了，帮我排查")
    payload = stream.result.data["payload"]
    assert stream.outcome == "SUCCESS"
    assert payload["conclusion"] is None
    assert {each["kind"] for each in payload["analysis"]} == {"NEGATIVE_OBSERVATION"}
    assert "没有找到任何证据，因此不给出结论。" in payload["limitations"]["missing_info"]
