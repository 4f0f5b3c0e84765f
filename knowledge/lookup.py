"""Retrieval for callers on the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.db import DatabaseSyncToAsync
from django.db import InterfaceError, OperationalError

from knowledge.embedding import PACKAGED_MODEL, embed
from knowledge.errors import KnowledgeUnavailableError
from knowledge.retrieval import Passage, search
from knowledge.terms import terms

_THREADS = 4
_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="knowledge")


async def warm() -> None:
    """Load encoder and dictionary, so that the first query of a process does not wait for them."""
    await asyncio.get_running_loop().run_in_executor(_executor, _load)


def _load() -> None:
    embed(["预热"], PACKAGED_MODEL)
    terms("预热")


async def find(query: str, limit: int) -> list[Passage]:
    """`knowledge.retrieval.search` off the event loop. Raises `KnowledgeUnavailableError`."""
    call: Callable[..., Any] = search
    try:
        found: list[Passage] = await DatabaseSyncToAsync(call, thread_sensitive=False, executor=_executor)(query, limit)
    except (OperationalError, InterfaceError) as error:
        raise KnowledgeUnavailableError("PostgreSQL is away") from error
    return found
