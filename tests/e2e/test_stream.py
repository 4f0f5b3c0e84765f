"""The stream of `POST /api/chat` on a served process: its grammar, its ends, and what is committed before."""

import signal
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import pytest

from audit.models import DiagnosisRun, RunStatus
from tests.e2e.client import ChatClient
from tests.e2e.conftest import Serve
from tests.e2e.waiting import ended, eventually
from tests.provider.replies import Reply, error, hang, text
from tests.provider.server import Provider


@pytest.fixture(autouse=True)
def small_talk(provider: Provider) -> None:
    """One model call after the router: the shortest run there is."""
    provider.always("intent_router", text("SYSTEM_CHAT"))


def test_an_answer_is_metadata_statuses_content_done(owner: ChatClient) -> None:
    stream = owner.ask("你能做什么？")
    assert stream.names == ["metadata", "status", "status", "status", "content", "done"]
    assert stream.statuses() == ["ROUTING", "ANSWERING", "RELEASING"]
    assert list(stream.events[0].data) == ["session_id", "run_id"]
    assert all(list(event.data) == ["code", "message"] for event in stream.events if event.name == "status")
    assert stream.result.data == {
        "content_type": "SYSTEM_ANSWER",
        "payload": {"answer": "我可以帮助排查业务系统的故障。"},
    }
    assert stream.events[-1].data == {"outcome": "SUCCESS"}


def test_the_headers_keep_proxies_and_caches_away(owner: ChatClient) -> None:
    headers = owner.ask("hello").response.headers
    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert headers["Cache-Control"] == "no-cache, no-transform"
    assert headers["X-Accel-Buffering"] == "no"
    assert "Content-Length" not in headers


def test_what_is_sent_is_committed_before(owner: ChatClient) -> None:
    with owner.open("hello") as stream:
        content = stream.until("content")
        run = DiagnosisRun.objects.get(pk=stream.run_id)
        assert (run.status, run.release_outcome, run.released_content) == ("SUCCEEDED", "SUCCESS", content.data)
        assert stream.until("done").data == {"outcome": "SUCCESS"}
    shown = owner.http.get(f"/api/sessions/{stream.session_id}/runs").json()["results"]
    assert [item["released_content"] for item in shown] == [content.data]


def test_the_timeline_of_a_run_begins_and_ends_with_it(owner: ChatClient) -> None:
    run = ended(owner.ask("hello").run_id)
    timeline = list(run.timeline.order_by("seq").values_list("seq", "event_type"))
    assert [seq for seq, _ in timeline] == list(range(1, len(timeline) + 1))
    names = [name for _, name in timeline]
    assert (names[0], names[-1]) == ("RUN_STARTED", "RUN_FINISHED")
    assert names.count("RUN_FINISHED") == 1


def test_a_router_that_never_says_one_of_the_words_is_a_failure(owner: ChatClient, provider: Provider) -> None:
    provider.always("intent_router", text("I think it is DIAGNOSIS"))
    stream = owner.ask("hello")
    assert stream.names == ["metadata", "status", "failure", "done"]
    assert (stream.result.data["code"], stream.outcome) == ("ROUTING_UNAVAILABLE", "FAILED")
    assert list(stream.result.data) == ["code", "message"]
    run = ended(stream.run_id)
    assert (run.status, run.release_outcome, run.failure_code) == ("FAILED", "FAILED", "ROUTING_UNAVAILABLE")
    assert run.released_content is None


def test_a_model_that_is_down_is_a_failure(owner: ChatClient, provider: Provider) -> None:
    provider.always("system_chat", error(500))
    stream = owner.ask("hello")
    assert (stream.result.data["code"], stream.outcome) == ("MODEL_UNAVAILABLE", "FAILED")
    assert ended(stream.run_id).failure_code == "MODEL_UNAVAILABLE"


def test_the_second_question_of_a_session_reaches_the_router_with_the_first(
    owner: ChatClient, provider: Provider
) -> None:
    first = owner.ask("What can you do?")
    second = owner.ask("And what else?", first.session_id)
    assert second.session_id == first.session_id
    assert provider.requests("intent_router")[-1].data() == {
        "query": "And what else?",
        "last_intent": "SYSTEM_CHAT",
        "last_user_query": "What can you do?",
    }


def test_a_session_answers_one_question_at_a_time(owner: ChatClient, provider: Provider) -> None:
    provider.script("system_chat", hang())
    with owner.open("hello") as stream:
        stream.until("status", "ANSWERING")
        body = {"query": "again", "session_id": str(stream.session_id)}
        refused = owner.http.post("/api/chat", json=body)
        assert (refused.status_code, refused.json()["code"]) == (409, "SESSION_BUSY")
    ended(stream.run_id)
    assert owner.ask("again", stream.session_id).outcome == "SUCCESS"


def test_a_run_ends_at_its_deadline(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    provider.always("system_chat", hang())
    with serve_with(
        SUPERBIZ_HARNESS__BUDGET__RUN_SECONDS="1.5", SUPERBIZ_HARNESS__BUDGET__REPORT_RESERVE_SECONDS="1"
    ) as server:
        stream = client_of("owner", server).ask("hello")
    assert (stream.result.data["code"], stream.outcome) == ("DEADLINE_EXCEEDED", "FAILED")
    run = ended(stream.run_id)
    assert (run.status, run.failure_code, run.budget_exhausted_reason) == ("FAILED", "DEADLINE_EXCEEDED", "DEADLINE")
    assert run.timeline.filter(event_type="BUDGET_EXHAUSTED", details={"reason": "DEADLINE"}).count() == 1


def test_streams_hold_no_database_connection(owner: ChatClient, provider: Provider) -> None:
    """More streams than the pool has connections, and the page still works."""
    provider.always("system_chat", hang())
    with ExitStack() as stack:
        streams = [stack.enter_context(owner.open("hello")) for _ in range(24)]
        for stream in streams:
            stream.until("status", "ANSWERING")
        assert owner.http.get("/api/sessions").status_code == 200
    for stream in streams:
        assert ended(stream.run_id).status == RunStatus.CANCELLED


def test_a_process_that_shuts_down_lets_runs_finish_and_takes_no_new_ones(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    provider.script("system_chat", Reply({"role": "assistant", "content": "done"}, delay=3))
    with serve_with() as server:
        client = client_of("owner", server)
        with client.open("hello") as stream:
            stream.until("status", "ANSWERING")
            server.signal(signal.SIGTERM)
            refused = eventually(lambda: _refused(client))
            assert refused is not None
            assert (refused.status_code, refused.json()["code"]) == (503, "BUSY")
            assert "Retry-After" in refused.headers
            assert client.http.get("/readyz").status_code == 503
            assert stream.until("done").data == {"outcome": "SUCCESS"}
        assert server.process.wait(30) == 0
    assert ended(stream.run_id).status == RunStatus.SUCCEEDED


def test_what_does_not_finish_in_time_is_told_that_the_process_shuts_down(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    provider.always("system_chat", hang())
    with serve_with(SUPERBIZ_HARNESS__LIMITS__DRAIN_SECONDS="0.5") as server:
        with client_of("owner", server).open("hello") as stream:
            stream.until("status", "ANSWERING")
            server.signal(signal.SIGTERM)
            assert stream.until("failure").data["code"] == "SHUTTING_DOWN"
            assert stream.until("done").data == {"outcome": "FAILED"}
        assert server.process.wait(30) == 0
    run = ended(stream.run_id)
    assert (run.status, run.failure_code) == ("FAILED", "SHUTTING_DOWN")


def _refused(client: ChatClient) -> httpx.Response | None:
    """The answer to a question that is refused; a stream that begins all the same is left."""
    with client.http.stream("POST", "/api/chat", json={"query": "hello"}) as response:
        if response.status_code == 200:
            return None
        response.read()
        return response
