"""A whole diagnosis over HTTP: the plan, the tool lines, the report, and what they may not hold."""

from tests.e2e.client import ChatClient
from tests.e2e.waiting import ended
from tests.provider.server import Provider

QUESTION = "订单支付超时，帮我排查"


def test_a_diagnosis_streams_plan_tools_and_report(owner: ChatClient, provider: Provider) -> None:
    stream = owner.ask(QUESTION)
    codes = stream.statuses()
    assert codes[:3] == ["ROUTING", "DIAGNOSIS_STARTED", "DIAGNOSIS_PLAN"]
    assert codes.count("TOOL_RUNNING") == codes.count("TOOL_FINISHED") == 3
    assert codes[-1] == "RELEASING"
    messages = {event.data["code"]: event.data["message"] for event in stream.events if event.name == "status"}
    assert messages["DIAGNOSIS_PLAN"].split("\n")[0] == "查阅支付超时的排查手册"
    assert stream.outcome == "SUCCESS", stream.result
    assert stream.result.data["content_type"] == "DIAGNOSIS_REPORT"
    assert list(stream.result.data["payload"]) == [
        "conclusion",
        "analysis",
        "action_plan",
        "recommendations",
        "limitations",
        "references",
    ]
    run = ended(stream.run_id)
    assert (run.status, run.intent, run.tool_calls, run.model_calls) == ("SUCCEEDED", "DIAGNOSIS", 3, 2)
    assert run.published_result is not None
    assert set(run.published_result) == {
        "user_query",
        "published_conclusion",
        "scope",
        "limitations",
        "source_documents",
    }


def test_the_next_question_of_the_session_gets_the_published_result_and_nothing_else(
    owner: ChatClient, provider: Provider
) -> None:
    first = owner.ask(QUESTION)
    owner.ask("现在呢？", first.session_id)
    published = ended(first.run_id).published_result
    previous = [request.data()["previous_turn"] for request in provider.requests("diagnosis")]
    assert previous[0] is None
    assert previous[-1] == published
    other = owner.ask(QUESTION)
    assert other.session_id != first.session_id
    assert provider.requests("diagnosis")[-1].data()["previous_turn"] is None
