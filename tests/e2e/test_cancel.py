"""Runs that are stopped: their client leaves, or somebody stops them, here or in another process."""

import socket
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from audit.models import DiagnosisRun
from tests.cast import ROLES
from tests.e2e.client import ChatClient, Stream
from tests.e2e.conftest import Serve
from tests.e2e.server import Server
from tests.e2e.waiting import FIRST_CALL_SECONDS, ended, eventually
from tests.provider.replies import hang, text
from tests.provider.server import Provider


@pytest.fixture(autouse=True)
def small_talk(provider: Provider) -> None:
    provider.always("intent_router", text("SYSTEM_CHAT"))


def was_cancelled(stream: Stream, reason: str) -> DiagnosisRun:
    run = ended(stream.run_id)
    assert (run.status, run.release_outcome, run.failure_code) == ("CANCELLED", None, None)
    assert (run.released_content, run.published_result) == (None, None)
    told = list(run.timeline.order_by("seq").values_list("event_type", "details"))
    assert ("CANCELLED", {"reason": reason}) in told
    assert told[-1][0] == "RUN_FINISHED"
    return run


@pytest.mark.parametrize(("purpose", "intent"), [("intent_router", None), ("system_chat", "SYSTEM_CHAT")])
def test_a_client_that_leaves_ends_the_model_call_and_the_run(
    owner: ChatClient, provider: Provider, purpose: str, intent: str | None
) -> None:
    provider.script(purpose, hang())
    with owner.open("hello") as stream:
        seen = provider.wait_for(purpose, FIRST_CALL_SECONDS)
    provider.wait_closed(seen)
    run = was_cancelled(stream, "CLIENT_GONE")
    assert run.intent == intent
    step = run.steps.order_by("step_index").last()
    assert step is not None
    assert (step.purpose, step.outcome) == (purpose, "CANCELLED")


def test_after_a_client_left_its_session_and_its_place_are_free(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    with serve_with(SUPERBIZ_HARNESS__LIMITS__RUNS_PER_USER="1") as server:
        client = client_of("other", server)
        provider.script("system_chat", hang())
        with client.open("hello") as stream:
            provider.wait_for("system_chat", FIRST_CALL_SECONDS)
        ended(stream.run_id)
        assert client.ask("again", stream.session_id).outcome == "SUCCESS"


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_a_stopped_run_tells_its_client(
    server: Server, client_of: Callable[..., ChatClient], provider: Provider, role: str
) -> None:
    provider.script("system_chat", hang())
    with client_of("owner", server).open("hello") as stream:
        stream.until("status", "ANSWERING")
        seen = provider.wait_for("system_chat", FIRST_CALL_SECONDS)
        answer = client_of(role, server).http.post(f"/api/runs/{stream.run_id}/cancel")
        assert (answer.status_code, answer.json()) == (202, {"run_id": str(stream.run_id)})
        assert stream.until("failure").data["code"] == "CANCELLED"
        assert stream.until("done").data == {"outcome": "FAILED"}
    provider.wait_closed(seen)
    was_cancelled(stream, "CANCELLED")
    again = client_of("owner", server).http.post(f"/api/runs/{stream.run_id}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "RUN_ENDED")


@pytest.mark.parametrize("role", [role for role in ROLES if role not in {"owner", "admin"}])
def test_nobody_else_stops_a_run(
    server: Server, client_of: Callable[..., ChatClient], provider: Provider, role: str
) -> None:
    provider.script("system_chat", hang())
    with client_of("owner", server).open("hello") as stream:
        stream.until("status", "ANSWERING")
        answer = client_of(role, server).http.post(f"/api/runs/{stream.run_id}/cancel")
        assert (answer.status_code, answer.json()["code"]) == (404, "RUN_NOT_FOUND")
        assert DiagnosisRun.objects.get(pk=stream.run_id).status == "RUNNING"
    ended(stream.run_id)


def test_a_run_is_stopped_from_another_process(
    server: Server, serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    provider.script("system_chat", hang())
    with serve_with() as elsewhere, client_of("owner", server).open("hello") as stream:
        stream.until("status", "ANSWERING")
        answer = client_of("owner", elsewhere).http.post(f"/api/runs/{stream.run_id}/cancel")
        assert answer.status_code == 202
        assert stream.until("done").data == {"outcome": "FAILED"}
    was_cancelled(stream, "CANCELLED")


def test_a_users_places_count_over_processes(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    provider.always("system_chat", hang())
    one = {"SUPERBIZ_HARNESS__LIMITS__RUNS_PER_USER": "1"}
    with serve_with(**one) as first, serve_with(**one) as second:
        with client_of("editor", first).open("hello") as stream:
            provider.wait_for("system_chat", FIRST_CALL_SECONDS)
            refused = client_of("editor", second).http.post("/api/chat", json={"query": "hello"})
            assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_RUNS")
        ended(stream.run_id)


def test_a_full_process_refuses_and_a_freed_one_accepts(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    provider.script("system_chat", hang())
    with serve_with(SUPERBIZ_HARNESS__LIMITS__RUNS_PER_PROCESS="1") as server:
        with client_of("owner", server).open("hello") as stream:
            provider.wait_for("system_chat", FIRST_CALL_SECONDS)
            refused = client_of("other", server).http.post("/api/chat", json={"query": "hello"})
            assert (refused.status_code, refused.json()["code"]) == (503, "BUSY")
        ended(stream.run_id)
        assert client_of("other", server).ask("hello").outcome == "SUCCESS"


def test_clients_that_leave_before_the_first_byte_leave_nothing_behind(
    server: Server, owner: ChatClient, provider: Provider
) -> None:
    """Wherever the request is when its client leaves: in a middleware, in the view, or between view and stream."""
    provider.always("intent_router", hang())
    body = b'{"query": "hello"}'
    lines = [
        "POST /api/chat HTTP/1.1",
        "Host: localhost",
        f"Authorization: {owner.http.headers['Authorization']}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    port = urlsplit(server.url).port
    before = DiagnosisRun.objects.count()
    for milliseconds in range(0, 60, 2):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request)
            time.sleep(milliseconds / 1000)
    assert owner.http.get("/api/sessions").status_code == 200
    # A run whose client was not seen to leave would fail in the router, not be cancelled.
    eventually(lambda: not DiagnosisRun.objects.filter(status="RUNNING").exists())
    made = DiagnosisRun.objects.order_by("-started_at")[: DiagnosisRun.objects.count() - before]
    assert {run.status for run in made} == {"CANCELLED"}
