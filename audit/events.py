"""The live feed's other end: who may listen, what can be read again, and a listener that outlives Redis.

django-eventstream does the streaming. Source: 05-audit, "APIs".
"""

import asyncio
import json
import logging
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.utils.translation import gettext_lazy as _
from django_eventstream.channelmanager import ChannelManagerBase
from django_eventstream.event import Event
from django_eventstream.storage import EventDoesNotExist, StorageBase
from django_eventstream.views import RedisListener, events, get_listener_manager
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from redis.typing import EncodableT
from rest_framework.exceptions import APIException
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from audit import feed
from audit.api import IsAuditor
from audit.models.runs import VIEW_RUNS

logger = logging.getLogger(__name__)

KEPT_EVENTS = 10_000
STREAM_KEY = "superbiz:audit:feed:{channel}"
RETRY_SECONDS = 1.0
PUBLISHED = "events_channel"  # where django-eventstream publishes

_SEQUENCES = 1_000_000  # Redis numbers the entries of one millisecond; an event's id is both parts as one number


class FeedChannels(ChannelManagerBase):  # type: ignore[misc]
    """`EVENTSTREAM_CHANNELMANAGER_CLASS`: one channel, for auditors."""

    def get_channels_for_request(self, request: HttpRequest, view_kwargs: dict[str, object]) -> set[str]:
        return {feed.CHANNEL}

    def can_read_channel(self, user: AbstractBaseUser | None, channel: str) -> bool:
        """Asked when a stream begins and each time it catches up, so the user is read anew."""
        try:
            fresh = None if user is None else get_user_model().objects.filter(pk=user.pk).first()
            return fresh is not None and channel == feed.CHANNEL and fresh.has_perm(VIEW_RUNS)
        finally:
            close_old_connections()  # the stream lives on and must not keep one

    def is_channel_reliable(self, channel: str) -> bool:
        return True


class FeedStorage(StorageBase):  # type: ignore[misc]
    """`EVENTSTREAM_STORAGE_CLASS`: the last 10,000 events of a channel, in a capped Redis stream."""

    def append_event(self, channel: str, event_type: str, data: str) -> Event:
        values: dict[EncodableT, EncodableT] = {"type": event_type, "data": data}
        entry = _redis().xadd(_key(channel), values, maxlen=KEPT_EVENTS, approximate=True)
        return Event(channel, event_type, data, id=_number(cast(str, entry)))

    def get_events(self, channel: str, last_id: int, limit: int = 100) -> list[Event]:
        """What came after `last_id`. Raises `EventDoesNotExist` when part of that is no longer kept."""
        oldest = _entries(_redis().xrange(_key(channel), count=1))
        if last_id and (not oldest or last_id < _number(oldest[0][0])):
            raise EventDoesNotExist(f"No such event {last_id}", self.get_current_id(channel))
        found = _entries(_redis().xrange(_key(channel), min=f"({_entry(last_id)}", count=limit))
        return [Event(channel, values["type"], values["data"], id=_number(entry)) for entry, values in found]

    def get_current_id(self, channel: str) -> int:
        newest = _entries(_redis().xrevrange(_key(channel), count=1))
        return _number(newest[0][0]) if newest else 0


class SteadyListener(RedisListener):  # type: ignore[misc]
    """Hands on what other processes publish, also after Redis was away.

    The library's own ends with the first lost connection, and says nothing of what it missed.
    """

    async def start(self) -> None:
        while True:
            try:
                await self.listen()
            except (RedisError, OSError) as error:
                logger.warning("live feed: listening again (%s)", type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)

    async def listen(self) -> None:
        await self.pubsub.subscribe(PUBLISHED)
        async for message in self.pubsub.listen():
            if message["type"] == "subscribe":  # the first time, and whenever the client had to connect again
                _catch_up()
            elif message["type"] == "message":
                sent = json.loads(message["data"])
                event = Event(sent["channel"], sent["event_type"], sent["data"], id=sent["pub_id"])
                get_listener_manager().add_to_queues(event.channel, event)


class FeedUnavailable(APIException):
    """Redis is away."""

    status_code = 503
    default_code = "BUSY"
    default_detail = _("The service is busy. Try again in a moment.")


class FeedView(APIView):
    """Run states and timeline events as they happen, as server-sent events; goes on after `Last-Event-ID`."""

    permission_classes = (IsAuthenticated, IsAuditor)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), JSONRenderer.media_type  # of refusals; the stream has no renderer

    @extend_schema(
        parameters=[OpenApiParameter("Last-Event-ID", OpenApiTypes.STR, OpenApiParameter.HEADER)],
        responses={(200, "text/event-stream"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Listen. Events: `run` (a run's new state) and `timeline`."""
        plain: HttpRequest = request._request
        plain.user = request.user
        query = QueryDict(mutable=True)
        # Without a place to begin, the library drops what is published while a stream opens.
        query["lastEventId"] = plain.GET.get("lastEventId") or _now()
        plain.GET = cast(Any, query)  # the library's other parameters belong to a proxy that is not there
        close_old_connections()
        response: HttpResponseBase = events(plain)
        return response


def _now() -> str:
    try:
        return f"{feed.CHANNEL}:{FeedStorage().get_current_id(feed.CHANNEL)}"
    except RedisError as error:
        raise FeedUnavailable from error


def _catch_up() -> None:
    """Let every open stream read what it missed from the store."""
    manager = get_listener_manager()
    with manager.lock:
        listeners = {listener for group in manager.listeners_by_channel.values() for listener in group}
        for listener in listeners:
            listener.overflow = True
            listener.wake_threadsafe()


@lru_cache(maxsize=1)
def _redis() -> Redis:
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 1),  # one new connection after a restart of Redis; the feed waits for nothing else
        decode_responses=True,
    )


def _key(channel: str) -> str:
    return STREAM_KEY.format(channel=channel)


def _entries(reply: object) -> list[tuple[str, dict[str, str]]]:
    return cast(list[tuple[str, dict[str, str]]], reply)


def _number(entry: str) -> int:
    milliseconds, sequence = entry.split("-")
    return int(milliseconds) * _SEQUENCES + int(sequence)


def _entry(number: int) -> str:
    return f"{number // _SEQUENCES}-{number % _SEQUENCES}"


get_listener_manager().redis_listener = SteadyListener()
