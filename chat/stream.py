"""The stream of one run: its grammar, its bounded queue and its framing.

metadata -> status* -> (content | failure) -> done

Source: 01-chat, "The stream". A slow reader loses statuses, oldest first, never the ends of the stream.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from django_eventstream.utils import sse_encode_event

CONTENT_TYPE = "text/event-stream; charset=utf-8"
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
KEEP_ALIVE = b": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 15.0
QUEUE_SIZE = 32


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the stream; `data` is plain JSON."""

    name: str
    data: dict[str, Any]


def encode(event: Event) -> bytes:
    """One `event:` line and one `data:` line: JSON holds no raw line break, so the encoder splits nothing.

    UTF-8 JSON. Characters that some readers take for line ends (U+0085, U+2028, U+2029) go out escaped,
    and a lone surrogate, which UTF-8 cannot hold, is replaced.
    """
    text = json.dumps(event.data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "\x85\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    encoded: str = sse_encode_event(event.name, text)
    return encoded.encode("utf-8", errors="replace")


class RunStream:
    """Between a run and its reader, on one event loop. The run never waits for the reader.

    The ends are kept beside the queue, so that a full queue cannot push them out.
    """

    def __init__(self, metadata: Event, size: int = QUEUE_SIZE) -> None:
        self._first: Event | None = metadata
        self._statuses: deque[Event] = deque(maxlen=size)  # appending to a full one drops the oldest
        self._last: deque[Event] = deque()
        self._changed = asyncio.Event()
        self._ended = False
        self.delivered = asyncio.Event()
        """Set when the reader took the end of the stream, or is gone."""

    def status(self, code: str, message: str) -> None:
        """Add a status; after the end it is dropped."""
        if not self._ended:
            self._statuses.append(Event("status", {"code": code, "message": message}))
            self._changed.set()

    def end(self, result: Event, outcome: str) -> None:
        """Add `content` or `failure`, and `done`. The first call wins."""
        if not self._ended:
            self._ended = True
            self._last.extend((result, Event("done", {"outcome": outcome})))
            self._changed.set()

    def hang_up(self) -> None:
        """The reader is gone: nothing more is sent."""
        self._ended = True
        self._first = None
        self._statuses.clear()
        self._last.clear()
        self._changed.set()
        self.delivered.set()

    async def next(self, timeout: float = KEEP_ALIVE_SECONDS) -> bytes | None:
        """The next bytes for the reader; a comment after `timeout` seconds of silence; None at the end."""
        while True:
            event = self._take()
            if event is not None:
                return encode(event)
            if self._ended:
                self.delivered.set()
                return None
            self._changed.clear()
            try:
                async with asyncio.timeout(timeout):
                    await self._changed.wait()
            except TimeoutError:
                return KEEP_ALIVE

    def _take(self) -> Event | None:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._statuses:
            return self._statuses.popleft()
        return self._last.popleft() if self._last else None


async def read(stream: RunStream) -> AsyncIterator[bytes]:
    """What Django iterates over. It holds nothing that must be cleaned up when its reader leaves."""
    while (data := await stream.next()) is not None:
        yield data
