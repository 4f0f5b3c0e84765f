"""A client of the chat that takes the stream apart strictly."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx

from tests.e2e.server import Server

TIMEOUT = httpx.Timeout(60)


@dataclass(frozen=True)
class StreamEvent:
    name: str
    data: dict[str, Any]


class Stream:
    """One accepted question. Iterating gives its events as they come, and goes on where it was left."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.events: list[StreamEvent] = []
        self._reader = self._read()

    def __iter__(self) -> Iterator[StreamEvent]:
        return self

    def __next__(self) -> StreamEvent:
        self.events.append(next(self._reader))
        return self.events[-1]

    def _read(self) -> Iterator[StreamEvent]:
        buffer = b""
        for chunk in self.response.iter_bytes():
            buffer += chunk
            while b"\n\n" in buffer:
                frame, buffer = buffer.split(b"\n\n", 1)
                if not frame.startswith(b":"):
                    yield _parse(frame)
        assert buffer == b""

    def until(self, name: str, code: str | None = None) -> StreamEvent:
        """Read on to the first event of this name (and code)."""
        for event in self:
            if event.name == name and code in (None, event.data.get("code")):
                return event
        raise AssertionError(f"the stream ended without {name} {code}")

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.events]

    @property
    def metadata(self) -> dict[str, Any]:
        return self.events[0].data

    @property
    def run_id(self) -> UUID:
        return UUID(self.metadata["run_id"])

    @property
    def session_id(self) -> UUID:
        return UUID(self.metadata["session_id"])

    @property
    def result(self) -> StreamEvent:
        """`content` or `failure`."""
        return self.events[-2]

    @property
    def outcome(self) -> str:
        outcome: str = self.events[-1].data["outcome"]
        return outcome

    def statuses(self) -> list[str]:
        return [event.data["code"] for event in self.events if event.name == "status"]


class ChatClient:
    """Somebody with a token at one server."""

    def __init__(self, server: Server, token: str, language: str = "en") -> None:
        headers = {"Authorization": f"Token {token}", "Accept-Language": language}
        self.http = httpx.Client(base_url=server.url, headers=headers, timeout=TIMEOUT, trust_env=False)

    @contextmanager
    def open(self, query: str, session_id: UUID | None = None) -> Iterator[Stream]:
        """A stream that is left when the block is."""
        body = {"query": query, "session_id": None if session_id is None else str(session_id)}
        with self.http.stream("POST", "/api/chat", json=body) as response:
            if response.status_code != 200:
                response.read()
            assert response.status_code == 200, response.text
            stream = Stream(response)
            assert next(stream).name == "metadata"
            yield stream

    def ask(self, query: str, session_id: UUID | None = None) -> Stream:
        """Ask, and read to the end."""
        with self.open(query, session_id) as stream:
            for _ in stream:
                pass
        return stream

    def close(self) -> None:
        self.http.close()


def _parse(frame: bytes) -> StreamEvent:
    lines = frame.decode("utf-8").split("\n")
    assert [line.partition(": ")[0] for line in lines] == ["event", "data"], lines
    return StreamEvent(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: ")))
