"""The auditors' live feed: run states and timeline events as they happen, metadata only.

django-eventstream carries it, by Redis across processes. Publishing runs on a thread of its own with a bounded
queue; when Redis is slow or away, messages are lost and nothing else happens. Source: 05-audit, "APIs".
"""

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

CHANNEL = "diagnosis"
TIMELINE = "timeline"
RUN = "run"
LONGEST_QUEUE = 2_000

_AUDITORS_ONLY = frozenset({"reason"})  # free text of the semantic guard: the run page shows it, the feed does not


@dataclass(frozen=True, slots=True)
class Message:
    event_type: str
    data: dict[str, Any]


def timeline_message(
    session_id: UUID, *, run_id: UUID, seq: int, event_type: str, at: datetime, details: dict[str, Any]
) -> Message:
    """One timeline event as the feed shows it."""
    shown = {name: value for name, value in details.items() if name not in _AUDITORS_ONLY}
    return Message(
        TIMELINE,
        {
            "session_id": str(session_id),
            "run_id": str(run_id),
            "seq": seq,
            "event_type": event_type,
            "at": at.isoformat(),
            "details": shown,
        },
    )


def run_message(session_id: UUID, run_id: UUID, status: str, at: datetime, **figures: Any) -> Message:
    """A run's new state; `figures` as the runs list names them."""
    return Message(
        RUN,
        {"session_id": str(session_id), "run_id": str(run_id), "status": status, "at": at.isoformat(), **figures},
    )


class _Publisher:
    """One thread, at most `LONGEST_QUEUE` messages waiting; what does not fit is dropped and counted."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="audit-feed")
        self._lock = threading.Lock()
        self._queued = 0

    def put(self, messages: Sequence[Message]) -> None:
        with self._lock:
            if self._queued + len(messages) > LONGEST_QUEUE:
                logger.warning("live feed: %d messages dropped, the queue is full", len(messages))
                return
            self._queued += len(messages)
        self._executor.submit(self._send, messages)

    def _send(self, messages: Sequence[Message]) -> None:
        from django_eventstream import send_event  # connects to Redis when it is imported

        try:
            for message in messages:
                send_event(CHANNEL, message.event_type, message.data)
        except (RedisError, OSError) as error:
            logger.warning("live feed: %d messages lost (%s)", len(messages), type(error).__name__)
        finally:
            with self._lock:
                self._queued -= len(messages)


_publisher = _Publisher()


def publish(messages: Sequence[Message]) -> None:
    """Send `messages` in order. Returns at once and never raises for a Redis that is away."""
    if messages:
        _publisher.put(messages)
