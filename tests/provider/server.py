"""The server: in a thread of its own, on a free port, with a script for each purpose and a record of all requests."""

import asyncio
import hashlib
import json
import socket
import struct
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

from aiohttp import web

from tests.provider.replies import Answer, JsonObject, Reply, Request
from tests.provider.script import by_default

DRIP_SECONDS = 0.05
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends a reset."""


@dataclass(slots=True)
class Seen:
    """One request and what became of its connection. Times are monotonic, in seconds."""

    request: Request
    at: float
    ended: float | None = None
    closed_by_client: bool = False


@dataclass
class Provider:
    """The played model. Use it as a context manager, or by the fixture `provider`."""

    seen: list[Seen] = field(default_factory=list)
    peak: int = 0
    """The most requests that were ever open at once."""
    _open: int = 0
    _scripts: dict[str, deque[Answer]] = field(default_factory=lambda: defaultdict(deque))
    _defaults: dict[str, Answer] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __enter__(self) -> "Provider":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="provider", daemon=True)
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def reset(self) -> None:
        """Forget scripts and requests."""
        with self._changed:
            self.seen.clear()
            self.peak = self._open
            self._scripts.clear()
            self._defaults.clear()

    def script(self, purpose: str, *answers: Answer) -> None:
        """Answer the next requests of `purpose` with these, one each; then again as by default."""
        with self._changed:
            self._scripts[purpose].extend(answers)

    def always(self, purpose: str, answer: Answer) -> None:
        """Answer every further request of `purpose` so."""
        with self._changed:
            self._defaults[purpose] = answer

    def requests(self, purpose: str | None = None) -> list[Request]:
        with self._changed:
            return [seen.request for seen in self.seen if purpose in (None, seen.request.purpose)]

    def purposes(self) -> list[str]:
        return [request.purpose for request in self.requests()]

    def wait_for(self, purpose: str, seconds: float = 20) -> Seen:
        """The latest request of `purpose`, once there is one. Raises TimeoutError."""
        with self._changed:
            found = self._changed.wait_for(
                lambda: next((seen for seen in reversed(self.seen) if seen.request.purpose == purpose), None), seconds
            )
        if found is None:
            raise TimeoutError(f"no request for {purpose}")
        return found

    def wait_closed(self, seen: Seen, seconds: float = 20) -> Seen:
        """Wait until the client closed this request's connection before it was answered."""
        with self._changed:
            if not self._changed.wait_for(lambda: seen.closed_by_client, seconds):
                raise TimeoutError("the connection stayed open")
        return seen

    async def _start(self) -> int:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/v1/embeddings", _embed)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port: int = self._runner.addresses[0][1]
        return port

    async def _complete(self, http: web.Request) -> web.StreamResponse:
        request = Request(
            purpose=http.headers.get("X-SuperBiz-Purpose", ""),
            run_id=http.headers.get("X-SuperBiz-Run-Id", ""),
            body=await http.json(),
            headers=dict(http.headers),
        )
        seen = Seen(request, time.monotonic())
        with self._changed:
            self.seen.append(seen)
            self._open += 1
            self.peak = max(self.peak, self._open)
            script = self._scripts[request.purpose]
            answer = script.popleft() if script else self._defaults.get(request.purpose, by_default)
            self._changed.notify_all()
        try:
            reply = answer if isinstance(answer, Reply) else answer(request)
            return await self._send(http, reply)
        except (asyncio.CancelledError, ConnectionError):
            seen.closed_by_client = True
            raise
        finally:
            with self._changed:
                seen.ended = time.monotonic()
                self._open -= 1
                self._changed.notify_all()

    async def _send(self, http: web.Request, reply: Reply) -> web.StreamResponse:
        await asyncio.sleep(reply.delay)
        body = reply.raw if reply.raw is not None else json.dumps(_completion(reply)).encode()
        if reply.fault is None:
            return web.Response(status=reply.status, body=body, content_type="application/json")
        assert http.transport is not None
        if reply.fault == "reset":
            http.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            http.transport.abort()
            return web.Response()
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
        await response.prepare(http)
        if reply.fault == "cut":
            await response.write(body[: len(body) // 2])
            http.transport.close()
            return response
        for position in range(len(body)):
            await response.write(body[position : position + 1])
            await asyncio.sleep(DRIP_SECONDS)
        return response


def _completion(reply: Reply) -> JsonObject:
    completion: JsonObject = {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": "test",
        "choices": [{"index": 0, "finish_reason": reply.finish_reason, "message": reply.message}],
    }
    if reply.usage is not None:
        completion["usage"] = reply.usage
    return completion


async def _embed(http: web.Request) -> web.Response:
    """Vectors of four numbers that depend on the text alone."""
    texts = (await http.json())["input"]
    vectors = [
        [byte / 255 for byte in hashlib.sha256(text.encode()).digest()[:4]]
        for text in ([texts] if isinstance(texts, str) else texts)
    ]
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
    return web.json_response({"object": "list", "model": "test", "data": data, "usage": usage})
