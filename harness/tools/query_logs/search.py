"""One search, in a worker thread: from the topic's source to the raw response."""

import heapq
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Event
from time import monotonic
from zoneinfo import ZoneInfo

from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.base import JsonObject
from harness.tools.query_logs.config import LogToolsSettings, TopicSettings
from harness.tools.query_logs.describe import describe
from harness.tools.query_logs.digest import Digest, Kept, Kind
from harness.tools.query_logs.files import OpenFile, TopicFiles
from harness.tools.query_logs.formats import Layout, StampFinder
from harness.tools.query_logs.masks import mask, outline, skeleton
from harness.tools.query_logs.mock import mock_lines
from harness.tools.query_logs.query import LogQuery
from harness.tools.query_logs.reader import Window, read_window
from harness.tools.query_logs.scan import RawEvent, Scan, needle
from harness.tools.query_logs.timestamps import DAY, SECOND, Micros, to_text

logger = logging.getLogger(__name__)

MARGIN_CHARACTERS = 400
"""Kept of a message beyond what is shown, so that a secret at the cut is whole when it is masked."""
_MAX_OPEN = 100
_PIECES_BYTES = 4 << 20  # of all open files together
_MIN_PIECE_BYTES = 32 << 10
_MAX_PIECE_BYTES = 512 << 10
_CHECK_EVENTS = 256
_MAX_KNOWN = 20_000
_MAX_KNOWN_BYTES = 2_000


class StoppedError(Exception):
    """Nobody waits for the result any more."""


class _DeadlineError(Exception):
    """The time for one search is over."""


@dataclass(frozen=True, slots=True)
class Search:
    """What one call asks. `deadline` is monotonic, in seconds; `stop` ends the search from another thread."""

    settings: LogToolsSettings
    topic: str
    query: LogQuery
    window: Window
    stop: Event
    deadline: float

    def run(self) -> JsonObject:
        """The raw response: counts, patterns and a sample, bounded by construction.

        Raises `StoppedError`, and `ToolCallError` (UNAVAILABLE, TIMEOUT).
        """
        topic = self.settings.topics[self.topic]
        return (_MockSearch if topic.source == "MOCK" else _FileSearch)(self, topic).run()

    def check(self) -> None:
        self.check_stop()
        if monotonic() > self.deadline:
            raise _DeadlineError

    def check_stop(self) -> None:
        if self.stop.is_set():
            raise StoppedError


class _Source:
    """What is common to both sources: matching, counting, and the response."""

    def __init__(self, search: Search, topic: TopicSettings) -> None:
        self.search = search
        self.topic = topic
        self.encodings: Sequence[str] = ("utf-8", "gb18030") if topic.encoding == "auto" else (topic.encoding,)
        self.wanted = needle(search.query.required(), self.encodings)
        self._digest = Digest(search.check_stop)
        self._known: dict[bytes, Kind] = {}
        self._seen: dict[bytes, Kind] = {}
        self._decided = search.query.is_one_text() and all(map(str.isascii, search.query.required()))
        self.incomplete = False
        self.reached: Micros | None = None

    def run(self) -> JsonObject:
        self.scan()
        return self._response()

    def scan(self) -> None:
        raise NotImplementedError

    def count(self, events: Iterator[tuple[RawEvent, Scan, str | None]]) -> None:
        query = self.search.query
        for number, (event, scan, source) in enumerate(events, 1):
            if number % _CHECK_EVENTS == 0:
                self.search.check()
            kind, known = self._kind(event)
            if self._decided or query.matches(self._text(event), kind.level, (kind.service, source)):
                self._digest.add(event, kind, source)
            elif (
                known
                and event.stamp.layout is not Layout.TWO_LINES
                and query.header_alone_refuses(kind.level, (kind.service, source))
            ):
                scan.dull.add(skeleton(event.data.partition(b"\n")[0]))

    def _kind(self, event: RawEvent) -> tuple[Kind, bool]:
        """The kind, and whether all events of the same skeleton are of it."""
        seen = outline(event.data)  # cheaper than the skeleton, and found as often once some events were read
        known = self._seen.get(seen)
        if known is not None:
            return known, True
        key = skeleton(event.data) if len(event.data) <= _MAX_KNOWN_BYTES else b""
        known = self._known.get(key)
        if known is not None:
            if len(self._seen) < _MAX_KNOWN:
                self._seen[seen] = known
            return known, True
        said = describe(self._text(event), event.stamp)
        kind = Kind(said.level, said.service, mask(said.subject))
        # A service with a figure in its name is told from its neighbours by that figure alone.
        if not key or len(self._known) >= _MAX_KNOWN or any(map(str.isdigit, said.service or "")):
            return kind, False
        self._known[key] = kind
        return kind, True

    def _text(self, event: RawEvent) -> str:
        data = event.data.rstrip(b"\r\n")
        for encoding in self.encodings:
            try:
                return data.decode(encoding).replace("\r\n", "\n")
            except UnicodeDecodeError:
                continue
        return data.decode(self.encodings[0], "replace").replace("\r\n", "\n")

    def _response(self) -> JsonObject:
        settings = self.search.settings
        groups = self._digest.groups()
        sample = self._digest.sample(groups, settings.max_events)
        ranked = sorted(enumerate(sample), key=lambda each: (each[1].at, each[0]))
        end = self.search.window.end if self.reached is None else min(self.reached, self.search.window.end)
        return {
            "source_kind": self.topic.source,
            "start_time": to_text(self.search.window.start),
            "end_time": to_text(end),
            "match_count": self._digest.match_count,
            "pattern_count": len(groups),
            "incomplete": self.incomplete or self._digest.overflowed or self.reached is not None,
            "patterns": [
                {
                    "count": each.count,
                    "first_seen": to_text(each.first.at),
                    "last_seen": to_text(each.last.at),
                    **self._shown(each.first, "example"),
                }
                for each in groups[: settings.max_patterns]
            ],
            "events": [
                {"rank": rank, "timestamp": to_text(kept.at), **self._shown(kept, "message")} for rank, kept in ranked
            ],
        }

    def _shown(self, kept: Kept, name: str) -> JsonObject:
        message = describe(self._text(kept.event), kept.event.stamp).message
        most = self.search.settings.max_message_characters + MARGIN_CHARACTERS
        service = kept.kind.service or kept.source
        return {"level": kept.kind.level, "service": service, name: message[:most], "whole": len(message) <= most}


class _MockSearch(_Source):
    """The packaged scenario."""

    def scan(self) -> None:
        window = self.search.window
        scan = Scan(StampFinder(ZoneInfo("UTC"), window.end), window, self.wanted, self.search.check)
        pieces = mock_lines(self.search.topic, window.start, window.end)
        source = self.search.topic.lower()
        try:
            self.count((event, scan, source) for event in scan.events(pieces))
        except _DeadlineError:
            self.reached = _reached([scan])


class _FileSearch(_Source):
    """Real files, merged by time."""

    def __init__(self, search: Search, topic: TopicSettings) -> None:
        super().__init__(search, topic)
        self._files = TopicFiles(topic.paths, topic.encoding)
        self._timed = 0
        self._untimed = 0

    def scan(self) -> None:
        for number, batch in enumerate(self._batches()):
            self._scan_batch(batch, alone=number == 0)
            if self.reached is not None:
                break
        self._judge()

    def _batches(self) -> Iterator[list[OpenFile]]:
        """At most `_MAX_OPEN` files at a time; almost always all that there are."""
        batch: list[OpenFile] = []
        for file in self._files.open_all():
            if file.packed and file.modified * SECOND < self.search.window.start - DAY:
                file.handle.close()  # a packed file is written once, when it is over
                self._timed += 1
                continue
            batch.append(file)
            if len(batch) == _MAX_OPEN:
                yield batch
                batch = []
        yield batch

    def _scan_batch(self, batch: list[OpenFile], *, alone: bool) -> None:
        size = max(_MIN_PIECE_BYTES, min(_MAX_PIECE_BYTES, _PIECES_BYTES // max(1, len(batch))))
        with ExitStack() as stack:
            scans: list[Scan] = []
            streams = []
            for file in batch:
                stack.callback(file.handle.close)
                newest = min(int(file.modified * SECOND), self.search.window.end)
                stamps = StampFinder(ZoneInfo(self.topic.zone), newest)
                scan = Scan(stamps, self.search.window, self.wanted, self.search.check)
                scans.append(scan)
                streams.append(self._stream(file, scan, stamps, size))
            try:
                self.count(heapq.merge(*streams, key=lambda each: each[0].stamp.at))
            except _DeadlineError:
                self.reached = _reached(scans) if alone else None
                if self.reached is None:
                    hint = "The logs are too many to search in time. Use a shorter lookback or a rarer word."
                    raise ToolCallError(ToolErrorCode.TIMEOUT, hint) from None
            self.incomplete = self.incomplete or any(scan.incomplete for scan in scans)

    def _stream(
        self, file: OpenFile, scan: Scan, stamps: StampFinder, size: int
    ) -> Iterator[tuple[RawEvent, Scan, str | None]]:
        self._look(file, stamps)
        try:
            for event in scan.events(read_window(file, self.search.window, stamps, size)):
                yield event, scan, file.source
        except OSError as error:
            self._files.failed += 1
            logger.warning("a log file of topic %s cannot be read: %s", self.search.topic, type(error).__name__)

    def _look(self, file: OpenFile, stamps: StampFinder) -> None:
        head = file.head if file.encoding is None else file.head.decode(file.encoding, "replace").encode()
        if any(stamps.find(line.lstrip(b"\0")) for line in head.split(b"\n")):
            self._timed += 1
        else:
            self._untimed += 1

    def _judge(self) -> None:
        """Say that the topic cannot be searched rather than that it holds nothing."""
        name = self.search.topic
        if not self._files.found:
            hint = f"The topic {name} has no log files now. Use another topic."
            raise ToolCallError(ToolErrorCode.UNAVAILABLE, hint)
        if self._files.failed == self._files.found:
            raise ToolCallError(ToolErrorCode.UNAVAILABLE, f"The log files of {name} cannot be read now.")
        if self._untimed and not self._timed and not self._digest.match_count:
            hint = f"No line of the log files of {name} has a time that is known here, so no window can be searched."
            raise ToolCallError(ToolErrorCode.UNAVAILABLE, hint)
        self.incomplete = self.incomplete or bool(self._files.failed or self._files.left_out)


def _reached(scans: Sequence[Scan]) -> Micros | None:
    """Up to where all of them came; None when one of them had not begun."""
    open_ones = [scan.reached for scan in scans if not scan.finished]
    return min((at for at in open_ones if at is not None), default=None) if None not in open_ones else None
