"""SIGTERM ends the process in order: first the runs, then the server. Source: 02-harness, "Shutdown".

Daphne's reactor would cancel every running request at once. So, once the reactor runs, our handler takes the
signal: it drains (readiness turns 503, new chats are refused, running runs may finish), then stops the reactor.
"""

import asyncio
import logging
import signal
import threading
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def install(drain: Callable[[], Awaitable[None]], close: Callable[[], Awaitable[None]]) -> None:
    """Take over the signals when Twisted's reactor starts. Without a reactor (commands, tests) nothing happens."""
    import sys

    reactor = sys.modules.get("twisted.internet.reactor")
    if reactor is not None and threading.current_thread() is threading.main_thread():
        reactor.callWhenRunning(_take_over, reactor, drain, close)


def _take_over(reactor: "object", drain: Callable[[], Awaitable[None]], close: Callable[[], Awaitable[None]]) -> None:
    loop = asyncio.get_event_loop()
    ending: list[asyncio.Task[None]] = []

    async def end() -> None:
        try:
            await drain()
            await close()
        finally:
            reactor.stop()  # type: ignore[attr-defined]

    def on_signal() -> None:
        if ending:
            logger.info("already shutting down")
            return
        logger.info("shutting down: no new runs; waiting for the running ones")
        ending.append(loop.create_task(end()))

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
