"""The live feed: who may listen, what comes, going on after a break, and Redis away."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import AsyncClient
from django_eventstream.storage import EventDoesNotExist
from django_eventstream.views import get_listener_manager
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from audit import events, feed
from audit.database import on_database_thread
from audit.events import FeedChannels, FeedStorage, SteadyListener
from audit.ids import new_id
from audit.models import DiagnosisRun, RunStatus
from audit.recorder import RunRecorder
from audit.runs import FinalState, finish_run, open_run
from harness.recorder import RoutingDecided, SemanticDecided
from tests.audit.clients import client_of
from tests.cast import Cast, make_cast, token_header

ADDRESS = "/api/diagnosis/events"


@pytest.fixture(autouse=True)
def empty_feed(services: object) -> None:
    """Nothing kept, and a listener for this test's event loop."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(events.STREAM_KEY.format(channel=feed.CHANNEL))
    manager = get_listener_manager()
    manager.redis_listener, manager.redis_listener_started = SteadyListener(), False


class TestStorage:
    def test_it_gives_what_came_after_an_event(self) -> None:
        storage = FeedStorage()
        assert storage.get_current_id(feed.CHANNEL) == 0
        kept = [storage.append_event(feed.CHANNEL, "run", f'{{"n": {n}}}') for n in range(5)]
        assert [event.data for event in storage.get_events(feed.CHANNEL, kept[1].id)] == [
            '{"n": 2}', '{"n": 3}', '{"n": 4}',
        ]  # fmt: skip
        assert len(storage.get_events(feed.CHANNEL, kept[1].id, limit=2)) == 2
        assert storage.get_current_id(feed.CHANNEL) == kept[-1].id
        assert storage.get_events(feed.CHANNEL, kept[-1].id) == []

    def test_it_is_bounded_and_says_when_something_is_gone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(events, "KEPT_EVENTS", 200)
        storage = FeedStorage()
        first = storage.append_event(feed.CHANNEL, "run", "{}")
        for _ in range(1_000):
            last = storage.append_event(feed.CHANNEL, "run", "{}")
        with Redis.from_url(settings.REDIS_URL) as redis:
            assert redis.xlen(events.STREAM_KEY.format(channel=feed.CHANNEL)) <= 400
        with pytest.raises(EventDoesNotExist) as gone:
            storage.get_events(feed.CHANNEL, first.id)
        assert gone.value.current_id == last.id

    def test_an_id_from_before_redis_was_emptied_is_gone(self) -> None:
        with pytest.raises(EventDoesNotExist):
            FeedStorage().get_events(feed.CHANNEL, 5)


@pytest.mark.parametrize(
    ("role", "status", "code"),
    [
        ("anonymous", 401, "NOT_AUTHENTICATED"),
        ("owner", 403, "PERMISSION_DENIED"),
        ("editor", 403, "PERMISSION_DENIED"),
    ],
)
def test_it_is_for_auditors(cast: Cast, role: str, status: int, code: str) -> None:
    refused = client_of(cast, role).get(ADDRESS, headers={"Accept": "text/event-stream"})
    assert (refused.status_code, refused.json()["code"]) == (status, code)


@pytest.mark.django_db(transaction=True)
def test_a_permission_that_was_taken_away_counts_at_the_next_look() -> None:
    cast = make_cast()
    manager = FeedChannels()
    assert manager.can_read_channel(cast.auditor, feed.CHANNEL)
    assert not manager.can_read_channel(cast.auditor, "another")
    assert not manager.can_read_channel(cast.owner, feed.CHANNEL)
    assert not manager.can_read_channel(None, feed.CHANNEL)
    Group.objects.get(name="auditor").user_set.remove(cast.auditor)
    assert not manager.can_read_channel(cast.auditor, feed.CHANNEL)


@pytest.fixture
async def auditor(transactional_db: None) -> dict[str, str]:
    """The header of an auditor."""
    return await on_database_thread(lambda: token_header(make_cast().auditor))


@asynccontextmanager
async def listening(client: AsyncClient, headers: dict[str, str]) -> AsyncIterator["asyncio.Queue[dict[str, str]]"]:
    """The events of an open stream, each as its fields; padding and keep-alives left out."""
    response: Any = await client.get(ADDRESS, headers=headers)
    assert response["Content-Type"] == "text/event-stream"
    read: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    is_open = asyncio.Event()

    async def pump() -> None:  # as a server does: it asks for the next chunk as soon as it has one
        async for chunk in response.streaming_content:
            is_open.set()
            for fields in _events(chunk):
                read.put_nowait(fields)

    task = asyncio.create_task(pump())
    async with asyncio.timeout(20):
        await is_open.wait()
    try:
        yield read
    finally:
        task.cancel()
        await asyncio.wait([task])


def _events(chunk: bytes) -> Iterator[dict[str, str]]:
    for block in chunk.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != ":")
        if fields.get("event") in ("run", "timeline", "stream-reset"):
            yield fields


async def take(stream: "asyncio.Queue[dict[str, str]]", count: int) -> list[dict[str, str]]:
    async with asyncio.timeout(20):
        return [await stream.get() for _ in range(count)]


async def carry_a_run() -> RunRecorder:
    def opened() -> RunRecorder:
        run = open_run(
            user=User.objects.get(username="owner"), session_id=None, run_id=new_id(), query="PLANTED QUESTION",
            model="m", language="en", instance="i", run_seconds=60,
        )  # fmt: skip
        return RunRecorder(run.run_id, run.session_id)

    recorder = await on_database_thread(opened)
    recorder.event(RoutingDecided(intent="DIAGNOSIS"))
    recorder.event(SemanticDecided(verdict="UNSUPPORTED", reason="PLANTED REASON"))
    await recorder.checkpoint()
    await on_database_thread(finish_run, recorder, FinalState(RunStatus.CANCELLED, "DIAGNOSIS", 1, 1, 10, 1, 0.0))
    return recorder


async def test_a_run_is_followed_as_it_happens(async_client: AsyncClient, auditor: dict[str, str]) -> None:
    async with listening(async_client, auditor) as stream:
        await subscribed()
        recorder = await carry_a_run()
        seen = await take(stream, 4)
    data = [json.loads(event["data"]) for event in seen]
    assert [event["event"] for event in seen] == ["run", "timeline", "timeline", "run"]
    assert [each.get("status") or each["event_type"] for each in data] == [
        "RUNNING", "ROUTING_DECIDED", "SEMANTIC_DECIDED", "CANCELLED",
    ]  # fmt: skip
    assert {each["run_id"] for each in data} == {str(recorder.run_id)}
    assert data[2]["details"] == {"verdict": "UNSUPPORTED"}
    assert "PLANTED" not in str(seen)


async def test_it_goes_on_after_the_last_event_that_was_seen(
    async_client: AsyncClient, auditor: dict[str, str]
) -> None:
    async with listening(async_client, auditor) as stream:
        await subscribed()
        await carry_a_run()
        seen = await take(stream, 4)
    async with listening(async_client, auditor | {"Last-Event-ID": seen[1]["id"]}) as stream:
        assert await take(stream, 2) == seen[2:]


async def test_what_is_no_longer_kept_is_said(async_client: AsyncClient, auditor: dict[str, str]) -> None:
    FeedStorage().append_event(feed.CHANNEL, "run", "{}")
    async with listening(async_client, auditor | {"Last-Event-ID": f"{feed.CHANNEL}:7"}) as stream:
        assert (await take(stream, 1))[0]["event"] == "stream-reset"


async def test_other_parameters_of_the_library_do_nothing(async_client: AsyncClient, auditor: dict[str, str]) -> None:
    response: Any = await async_client.get(f"{ADDRESS}?recover=true&channel=x&es-meta=x&link=next", headers=auditor)
    assert b"event: stream-open" in await anext(aiter(response.streaming_content))


async def test_the_feed_comes_back_after_its_connection_broke(
    async_client: AsyncClient, auditor: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "RETRY_SECONDS", 0.05)
    async with listening(async_client, auditor) as stream:
        await subscribed()
        with Redis.from_url(settings.REDIS_URL) as redis:
            redis.client_kill_filter(_type="pubsub")
        await carry_a_run()
        assert [event["event"] for event in await take(stream, 4)] == ["run", "timeline", "timeline", "run"]


async def test_a_run_goes_on_when_redis_is_away(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await on_database_thread(make_cast)
    monkeypatch.setattr(events, "_redis", lambda: Redis(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0)))
    recorder = await carry_a_run()
    await asyncio.get_running_loop().run_in_executor(feed._publisher._executor, lambda: None)
    assert "messages lost" in caplog.text
    assert "PLANTED" not in caplog.text
    assert await on_database_thread(DiagnosisRun.objects.filter(pk=recorder.run_id, status="CANCELLED").exists)


async def subscribed() -> None:
    """Wait until this process listens on Redis; an event before that comes with the next catching up."""
    async with asyncio.timeout(10):
        while not get_listener_manager().redis_listener.pubsub.subscribed:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
