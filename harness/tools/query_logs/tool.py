"""query_logs: events of one topic in a time window, as patterns and a sample. Source: 03-tools, "query_logs"."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from threading import Event
from time import monotonic
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo

from pydantic import Field, create_model

from harness.context import RunContext
from harness.errors import ToolCallError, ToolErrorCode
from harness.redaction import redact_text
from harness.tools.base import EvidenceStatus, JsonObject, StrictModel
from harness.tools.query_logs.config import LogToolsSettings, TopicSettings
from harness.tools.query_logs.digest import Digest, stamp
from harness.tools.query_logs.events import LogEvent
from harness.tools.query_logs.mock import mock_events
from harness.tools.query_logs.query import LogQuery, QueryError, parse_query
from harness.tools.query_logs.reader import StoppedError, Window, find_files, read_events
from harness.tools.summary import ToolSummary

logger = logging.getLogger(__name__)

_THREADS = 4
_SCAN_SHARE = 0.8  # of the time-out; then the scan stops by itself and says how far it came
_CHECK_EVENTS = 256


class LogArguments(StrictModel):
    """What the agent asks; `topic` is an enum of the configured topics in the tool's own subclass."""

    topic: str
    query: Annotated[str, Field(min_length=1, max_length=300)] = Field(
        description='Words are ANDed; "a phrase", -word, level:ERROR, service:name, OR between words. Case is ignored.'
    )
    lookback_minutes: Annotated[int, Field(ge=1, le=1440)] = Field(
        default=30, description="How far back from now to search, in minutes."
    )


class LogsTool:
    """Searches MOCK and FILE topics; one small pool of threads for all runs."""

    name: ClassVar[str] = "query_logs"

    def __init__(
        self, settings: LogToolsSettings, timeout_seconds: float, clock: Callable[[], datetime] | None = None
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self._settings = settings
        self._clock = clock or (lambda: datetime.now(UTC))
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="query-logs")
        topics = StrEnum("Topic", {name: name for name in settings.topics})  # type: ignore[misc]  # from settings
        self.arguments: type[LogArguments] = create_model(
            "LogArguments", __base__=LogArguments, topic=(topics, Field(description="The log topic to search."))
        )
        self.description = (
            "Searches recent log lines of one topic and returns exact counts, patterns and sampled events."
            " For what happened, not for background knowledge. Lines of source_kind MOCK are simulated."
            f" Topics: {', '.join(settings.topics)}."
        )

    async def run(self, ctx: RunContext, arguments: LogArguments) -> JsonObject:
        """Search. Raises `ToolCallError` (INVALID_ARGUMENTS with the place in the query, UNAVAILABLE)."""
        try:
            query = parse_query(arguments.query)
        except QueryError as error:
            raise ToolCallError(ToolErrorCode.INVALID_ARGUMENTS, f"query: {error}") from None
        end = self._clock()
        window = Window(end - timedelta(minutes=arguments.lookback_minutes), end)
        topic = self._settings.topics[str(arguments.topic)]
        stop = Event()
        deadline = monotonic() + self.timeout_seconds * _SCAN_SHARE
        search = asyncio.get_running_loop().run_in_executor(
            self._threads, _search, topic, str(arguments.topic), query, window, stop, deadline
        )
        try:
            return await asyncio.shield(search)
        except asyncio.CancelledError:
            stop.set()
            with suppress(StoppedError, OSError, ToolCallError):
                await search
            raise

    def project(self, raw: JsonObject, arguments: LogArguments, tool_call_id: str) -> JsonObject:
        """Patterns and events within the limits, masked."""
        settings = self._settings
        room = _Room(settings.max_characters, settings.max_message_characters)
        patterns = []
        for pattern in raw["patterns"][: settings.max_patterns]:
            example = room.take(pattern["example"], settings.max_characters // 2)
            if example is None:
                break
            patterns.append({**pattern, "service": _masked(pattern["service"]), "example": example})
        events = []
        for event in raw["events"][: settings.max_events]:
            message = room.take(event["message"], settings.max_characters)
            if message is None:
                break
            room.cut = room.cut or not event["whole"]
            shown = {name: event[name] for name in ("timestamp", "level")}
            events.append({**shown, "service": _masked(event["service"]), "message": message})
        events.sort(key=lambda event: event["timestamp"])
        missing = len(events) < raw["match_count"] or len(patterns) < raw["pattern_count"]
        status = EvidenceStatus.EVIDENCE_FOUND if raw["match_count"] else EvidenceStatus.NO_EVIDENCE
        return {
            "evidence_status": status.value,
            "tool_call_id": tool_call_id,
            "source_kind": raw["source_kind"],
            "scope": {
                "topic": str(arguments.topic),
                "query": redact_text(arguments.query),
                "start_time": raw["start_time"],
                "end_time": raw["end_time"],
            },
            "match_count": raw["match_count"],
            "returned_count": len(events),
            "patterns": patterns,
            "events": events,
            "truncated": missing or room.cut or raw["stopped"],
        }

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
        """Topic, words and lookback, whatever the spacing."""
        return f"{arguments.topic} {arguments.lookback_minutes} {' '.join(arguments.query.split())}"

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Room:
    """Hands out characters until none are left, and remembers whether anything was cut."""

    def __init__(self, characters: int, each: int) -> None:
        self._left = characters
        self._each = each
        self._used = 0
        self.cut = False

    def take(self, text: str, ceiling: int) -> str | None:
        """The masked text, cut to its limit; None when what was used reaches `ceiling` or nothing is left."""
        whole = redact_text(text)
        room = min(self._each, self._left, ceiling - self._used)
        if room <= 0:
            self.cut = True
            return None
        self.cut = self.cut or len(whole) > room
        taken = whole[:room]
        self._left -= len(taken)
        self._used += len(taken)
        return taken


def _masked(text: str | None) -> str | None:
    return None if text is None else redact_text(text)[:100]


def _search(
    topic: TopicSettings, name: str, query: LogQuery, window: Window, stop: Event, deadline: float
) -> dict[str, Any]:
    """In a worker thread. Stops by itself at `deadline` (monotonic); the window then ends where the scan came to."""
    digest = Digest()
    stopped_at: datetime | None = None
    for count, event in enumerate(_events(topic, name, window, stop), 1):
        if query.matches(event):
            digest.add(event)
        if count % _CHECK_EVENTS == 0:
            if stop.is_set():
                raise StoppedError
            if monotonic() > deadline:
                stopped_at = event.timestamp
                break
    return {
        "source_kind": topic.source,
        "start_time": stamp(window.start),
        "end_time": stamp(stopped_at or window.end),
        "stopped": stopped_at is not None,
        **digest.raw(),
    }


def _events(topic: TopicSettings, name: str, window: Window, stop: Event) -> Iterator[LogEvent]:
    if topic.source == "MOCK":
        yield from mock_events(name, window.start, window.end)
        return
    files = find_files(topic.paths)
    if not files:
        raise ToolCallError(ToolErrorCode.UNAVAILABLE, f"The topic {name} has no log files now. Use another topic.")
    failed = 0
    for path in files:
        try:
            yield from read_events(path, window, ZoneInfo(topic.zone), stop)
        except OSError as error:
            failed += 1
            logger.warning("a log file of topic %s cannot be read: %s", name, type(error).__name__)
    if failed == len(files):
        raise ToolCallError(ToolErrorCode.UNAVAILABLE, f"The log files of {name} cannot be read now.")
