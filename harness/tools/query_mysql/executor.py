"""Runs proved statements: a bounded pool of blocking connections for each data source.

A connection belongs to one statement at a time. Cancelling the caller (its run stopped, or its time is up)
sends KILL QUERY from a second connection, again and again until the worker has come back, and only then
lets the cancellation go on: no statement outlives its run. A connection that was killed, or that failed,
is closed and never used again.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import MySQLdb
from MySQLdb.connections import Connection

from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.query_mysql.config import DataSourceSettings, MysqlToolsSettings
from harness.tools.query_mysql.connection import SQL_MODE, open_connection
from harness.tools.query_mysql.failures import explain
from harness.tools.query_mysql.guard import Param, ProvedStatement
from harness.tools.query_mysql.values import BINARY_KEY, Cell

logger = logging.getLogger(__name__)

KILL_AGAIN_SECONDS = 0.1
KILL_SECONDS = 5
"""With the server away KILL cannot arrive; the worker then ends by its socket's timeout."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a statement returned: at most the asked number of rows, and whether there were more."""

    rows: list[list[Cell]]
    more: bool


class _StoppedError(Exception):
    """The caller gave up before the statement was sent."""


class _Job:
    """One statement on its way through a worker thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.stopped = False
        self.connection_id: int | None = None
        """Set while the connection is this job's own. Whoever sends it a KILL holds the lock, so that the
        connection cannot go back to the pool meanwhile."""


class DataSourcePool:
    """Connections to one data source. Used from one event loop."""

    def __init__(
        self,
        name: str,
        source: DataSourceSettings,
        settings: MysqlToolsSettings,
        statement_seconds: float,
        sql_mode: str = SQL_MODE,
    ) -> None:
        self.name = name
        self._source, self._settings = source, settings
        self._statement_seconds, self._sql_mode = statement_seconds, sql_mode
        self._slots = asyncio.Semaphore(settings.pool_size)
        self._workers = ThreadPoolExecutor(settings.pool_size, thread_name_prefix=f"mysql-{name}")
        # Of its own, so that a KILL never waits behind the statements that it is to end.
        self._killer = ThreadPoolExecutor(1, thread_name_prefix=f"mysql-kill-{name}")
        self._idle: deque[Connection] = deque()
        self._kills: set[asyncio.Task[None]] = set()

    async def fetch(self, statement: ProvedStatement, most: int) -> Rows:
        """Run one statement and read at most `most` rows. Raise `ToolCallError`."""
        try:
            async with asyncio.timeout(self._settings.pool_wait_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise ToolCallError(
                ToolErrorCode.UNAVAILABLE, "All connections to this data source are busy; try again later."
            ) from None
        job, loop = _Job(), asyncio.get_running_loop()
        try:
            work = self._workers.submit(self._run, job, statement.driver_sql, statement.params, most)
        except RuntimeError:
            self._slots.release()
            raise ToolCallError(ToolErrorCode.UNAVAILABLE, "The process is shutting down.") from None
        # The slot is free when the thread is, which may be later than the caller's end.
        work.add_done_callback(lambda _: _release(loop, self._slots))
        try:
            return await asyncio.shield(asyncio.wrap_future(work))
        except asyncio.CancelledError:
            kill = asyncio.create_task(self._end(job, work))
            self._kills.add(kill)
            kill.add_done_callback(self._kills.discard)
            await asyncio.shield(kill)
            raise
        except MySQLdb.Error as error:
            logger.warning("query_mysql on %s failed: MySQL error %s", self.name, error.args[0] if error.args else "?")
            raise explain(error) from error

    async def close(self) -> None:
        """End what runs, close all connections, end all threads."""
        if self._kills:
            await asyncio.wait(self._kills)
        await asyncio.to_thread(self._workers.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._killer.shutdown)
        while self._idle:
            self._idle.pop().close()

    async def _end(self, job: _Job, work: "Future[Rows]") -> None:
        """Stop the job and wait until its thread is back, for `KILL_SECONDS` at most.

        One KILL is not enough: one that arrives before the statement does is lost.
        """
        job.stopped = True
        loop = asyncio.get_running_loop()
        end = loop.time() + KILL_SECONDS
        ended = asyncio.wrap_future(work)
        while not ended.done() and loop.time() < end:
            if job.connection_id is not None:
                await loop.run_in_executor(self._killer, self._kill, job)
            await asyncio.wait([ended], timeout=KILL_AGAIN_SECONDS)
        if not ended.done():
            logger.error("query_mysql on %s: a statement could not be ended", self.name)
            ended.add_done_callback(lambda future: future.cancelled() or future.exception())
        elif not ended.cancelled():
            ended.exception()  # read, so that asyncio does not report it

    def _kill(self, job: _Job) -> None:
        try:
            connection = self._open()
        except MySQLdb.Error:
            return  # tried again by the caller; the socket's timeout is the last resort
        try:
            with job.lock:
                if job.connection_id is not None:
                    connection.query(f"KILL QUERY {job.connection_id:d}")
        except MySQLdb.Error:
            return  # already gone
        finally:
            connection.close()

    def _open(self) -> Connection:
        return open_connection(self._source, self._settings.connect_seconds, self._statement_seconds, self._sql_mode)

    def _run(self, job: _Job, sql: str, params: Sequence[Param], most: int) -> Rows:
        """In a worker thread: one statement on a connection of its own."""
        if job.stopped:
            raise _StoppedError
        connection, answered = self._connection(), False
        job.connection_id = connection.thread_id()
        try:
            if job.stopped:
                raise _StoppedError
            connection.query(sql.encode() % tuple(connection.literal(value) for value in params))
            rows = self._read(connection, most)
            answered = True
            return rows
        finally:
            with job.lock:
                job.connection_id = None
                reusable = answered and not job.stopped
            if reusable:
                self._idle.append(connection)
            else:
                connection.close()

    def _connection(self) -> Connection:
        """An idle connection that still answers, or a new one."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another worker was faster
                break
            try:
                connection.ping()
            except MySQLdb.Error:
                connection.close()  # the server was restarted, or took the idle connection away
            else:
                return connection
        return self._open()

    def _read(self, connection: Connection, most: int) -> Rows:
        """Row by row, so that a huge result is noticed before it is in memory."""
        result = connection.use_result()
        rows: list[list[Cell]] = []
        size, more = 0, False
        while row := result.fetch_row():
            if len(rows) == most:
                more = True  # the guard's LIMIT is `most` + 1: this is the last one
                continue
            cells = list(row[0])
            size += sum(map(_size, cells))
            if size > self._settings.max_raw_bytes:
                raise ToolCallError(
                    ToolErrorCode.RESULT_TOO_LARGE,
                    "The result is too large; name fewer columns, add conditions, or lower LIMIT.",
                )
            rows.append(cells)
        return Rows(rows, more)


def _size(cell: Cell) -> int:
    if isinstance(cell, str):
        return len(cell.encode())
    return len(cell[BINARY_KEY]) if isinstance(cell, dict) else 8


def _release(loop: asyncio.AbstractEventLoop, slots: asyncio.Semaphore) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(slots.release)
