"""Whether this process lives, and whether it may get traffic. Source: 07-run, "Serving"."""

import asyncio
from collections.abc import Awaitable

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from redis.asyncio import Redis
from redis.exceptions import RedisError

from audit.database import on_database_thread
from chat.runtime import get_runtime
from harness.errors import StoreUnavailableError

_SECONDS = 3.0


async def healthz(request: HttpRequest) -> JsonResponse:
    """200 while the process answers at all."""
    return JsonResponse({"status": "ok"})


async def readyz(request: HttpRequest) -> JsonResponse:
    """200 when PostgreSQL and both Redis users answer and the process is not draining; else 503 with what is not.

    `warm`: litellm is imported, so that the first run need not wait for it.
    """
    runtime = get_runtime()
    checks = {
        "postgresql": await _passes(on_database_thread(_ask_postgres)),
        "redis": await _passes(_ask_redis()),
        "harness_redis": await _passes(runtime.store.ping()),
        "warm": runtime.warming.done(),
        "accepting": not runtime.draining,
    }
    ready = all(checks.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", **checks}, status=200 if ready else 503)


async def _passes(check: Awaitable[None]) -> bool:
    try:
        async with asyncio.timeout(_SECONDS):
            await check
    except (TimeoutError, Error, RedisError, OSError, StoreUnavailableError):
        return False
    return True


def _ask_postgres() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


async def _ask_redis() -> None:
    async with Redis.from_url(settings.REDIS_URL, socket_timeout=_SECONDS) as redis:
        await redis.execute_command("PING")
