"""query_logs: events of one topic in a time window, as patterns and a sample. Source: 03-tools, "query_logs"."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from threading import Event
from time import monotonic
from typing import Annotated, ClassVar

from pydantic import Field, create_model

from harness.context import RunContext
from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.base import JsonObject, StrictModel
from harness.tools.query_logs.config import LogToolsSettings
from harness.tools.query_logs.projector import project
from harness.tools.query_logs.query import QueryError, parse_query
from harness.tools.query_logs.reader import Window
from harness.tools.query_logs.search import Search, StoppedError
from harness.tools.query_logs.timestamps import SECOND, to_micros
from harness.tools.summary import ToolSummary

_THREADS = 4
_SCAN_SHARE = 0.8  # of the time-out; then the scan stops by itself and the result says how far it came


def utc_now() -> datetime:
    return datetime.now(UTC)


class LogArguments(StrictModel):
    """What the agent asks. In the tool's own subclass `topic` is an enum of the configured topics."""

    topic: str
    query: Annotated[str, Field(min_length=1, max_length=300)] = Field(
        description='Words are ANDed; "a phrase", -word, level:ERROR, service:name, OR between words. Case is ignored.'
    )
    lookback_minutes: int


class LogsTool:
    """Searches MOCK and FILE topics; one small pool of threads serves all runs."""

    name: ClassVar[str] = "query_logs"

    def __init__(
        self, settings: LogToolsSettings, timeout_seconds: float, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self._settings = settings
        self._clock = clock
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="query-logs")
        topics = StrEnum("Topic", {name: name for name in settings.topics})  # type: ignore[misc]  # from settings
        most = settings.max_lookback_minutes
        lookback = Field(default=min(30, most), ge=1, le=most, description="How far back from now, in minutes.")
        self.arguments: type[LogArguments] = create_model(
            "LogArguments",
            __base__=LogArguments,
            topic=(topics, Field(description="The log topic to search.")),
            lookback_minutes=(int, lookback),
        )
        self.description = (
            "Searches recent log lines of one topic and returns exact counts, patterns and sampled events."
            " For what happened, not for background knowledge. Lines of source_kind MOCK are simulated."
            f" Topics: {', '.join(settings.topics)}."
        )

    async def run(self, ctx: RunContext, arguments: LogArguments) -> JsonObject:
        """Search in a thread, which ends within a moment when this task is cancelled.

        Raises `ToolCallError`: INVALID_ARGUMENTS with the place in the query, UNAVAILABLE, TIMEOUT.
        """
        try:
            query = parse_query(arguments.query)
        except QueryError as error:
            raise ToolCallError(ToolErrorCode.INVALID_ARGUMENTS, f"query: {error}") from None
        end = to_micros(self._clock())
        window = Window(end - arguments.lookback_minutes * 60 * SECOND, end)
        stop = Event()
        deadline = monotonic() + self.timeout_seconds * _SCAN_SHARE
        search = Search(self._settings, str(arguments.topic), query, window, stop, deadline)
        job = self._threads.submit(search.run)
        running = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop.set()
            job.cancel()  # takes it out of the queue; a search that runs ends by itself and is waited for
            with suppress(StoppedError, ToolCallError, asyncio.CancelledError):
                await running
            raise

    def project(self, raw: JsonObject, arguments: LogArguments, tool_call_id: str) -> JsonObject:
        """Patterns and events within the limits, masked."""
        return project(raw, str(arguments.topic), arguments.query, tool_call_id, self._settings)

    def summarize(self, arguments: LogArguments, agent_result: JsonObject | None) -> ToolSummary:
        """Topic, lookback and counts."""
        result = agent_result or {}
        return ToolSummary(
            topic=str(arguments.topic),
            lookback_minutes=arguments.lookback_minutes,
            match_count=result.get("match_count"),
            returned_count=result.get("returned_count"),
            truncated=result.get("truncated"),
        )

    def normalise(self, arguments: LogArguments) -> str:
        """Topic, conditions and lookback, whatever the spacing, case and order of the conditions."""
        with suppress(QueryError):
            return f"{arguments.topic} {arguments.lookback_minutes} {parse_query(arguments.query)}"
        return f"{arguments.topic} {arguments.lookback_minutes} {arguments.query}"

    def close(self) -> None:
        """Let threads go; a search that still runs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
