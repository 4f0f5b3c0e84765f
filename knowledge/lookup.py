"""Retrieval for callers on the event loop."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.db import DatabaseSyncToAsync
from django.db import InterfaceError, OperationalError

from knowledge.errors import KnowledgeUnavailableError
from knowledge.retrieval import Passage, search

_THREADS = 4
_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="knowledge")


async def find(query: str, limit: int) -> list[Passage]:
    """`knowledge.retrieval.search` off the event loop. Raises `KnowledgeUnavailableError`."""
    call: Callable[..., Any] = search
    try:
        found: list[Passage] = await DatabaseSyncToAsync(call, thread_sensitive=False, executor=_executor)(query, limit)
    except (OperationalError, InterfaceError) as error:
        raise KnowledgeUnavailableError("PostgreSQL is away") from error
    return found
