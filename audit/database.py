"""PostgreSQL off the event loop: a bounded pool of threads, none of which keeps a connection.

Django's own thread-sensitive executor would keep a connection for as long as a stream lives.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import DatabaseSyncToAsync

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8  # below the connection pool's 16, so that views and admin always find one

_executor = ThreadPoolExecutor(THREADS, thread_name_prefix="audit-database")


async def on_database_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `function` on one of the threads; its connection goes back to the pool when it returns.

    A caller that is cancelled stops waiting at once; `function`, once begun, goes on to its end all the same.
    """
    call: Callable[..., R] = function
    result: R = await DatabaseSyncToAsync(call, thread_sensitive=False, executor=_executor)(*args, **kwargs)
    return result
