"""Events from bytes: lines joined to events, and only those looked at that can match.

A search for a text looks for its bytes first and joins lines only around what it finds, so that it costs far less
than reading each line. A search without one reads each line.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.tools.query_logs.files import BrokenFileError
from harness.tools.query_logs.formats import Stamp, StampFinder
from harness.tools.query_logs.masks import skeleton
from harness.tools.query_logs.reader import SLACK, Window
from harness.tools.query_logs.timestamps import Micros

MAX_EVENT_BYTES = 256 * 1024
"""Of a longer event the rest is left out (and the result says truncated)."""
_DENSE_BYTES = 512
"""Where more than one event in so many bytes matches, reading each line is cheaper than going from hit to hit."""


class RawEvent(NamedTuple):
    """The bytes of an event with its continuation lines, and the time in its first line."""

    data: bytes
    stamp: Stamp


def needle(texts: Sequence[str], encodings: Sequence[str]) -> re.Pattern[bytes] | None:
    """Finds, in lower-cased bytes, every place where one of the lower-case texts may stand; None if that is anywhere.

    `bytes.lower` knows ASCII only, so letters such as É are left out of what is looked for.
    """
    choices: set[bytes] = set()
    for text in texts:
        plain = max(
            re.split("[" + "".join({re.escape(c) for c in text if _has_other_case(c)} or {"\n"}) + "]", text), key=len
        )
        if not plain:
            return None
        for encoding in encodings:
            try:
                choices.add(plain.encode(encoding).lower())
            except UnicodeEncodeError:
                continue
    return re.compile(b"|".join(re.escape(choice) for choice in sorted(choices))) if choices else None


def _has_other_case(character: str) -> bool:
    return not character.isascii() and character.lower() != character.upper()


class Scan:
    """One pass over the pieces of one file. `incomplete` says afterwards whether something was left out."""

    def __init__(
        self, stamps: StampFinder, window: Window, wanted: re.Pattern[bytes] | None, check: Callable[[], None]
    ) -> None:
        self._stamps = stamps
        self._window = window
        self._wanted = wanted
        self._check = check
        self._skipping = False
        self._dense = False
        self.dull: set[bytes] = set()
        """Skeletons of first lines that begin no event that is wanted; the caller adds them."""
        self.incomplete = False
        self.reached: Micros | None = None
        """Events earlier than this were seen."""
        self.finished = False

    def events(self, pieces: Iterable[bytes]) -> Iterator[RawEvent]:
        """Events of the window that may match, in the order of the file. `check` may raise between pieces."""
        rest = b""
        try:
            for piece in pieces:
                self._check()
                rest += self._kept(piece)
                cut, last = self._last_event(rest)
                if last is None:
                    if len(rest) > MAX_EVENT_BYTES:
                        rest = self._shorten(rest)
                    continue
                yield from self._within(rest[:cut])
                rest = rest[cut:]
                self.reached = last
                if last > self._window.end + SLACK:
                    break
        except BrokenFileError:
            self.incomplete = True
        yield from self._within(rest)
        self.finished = True

    def _kept(self, piece: bytes) -> bytes:
        """The piece without what belongs to a line that is too long, and without the holes of truncated files."""
        if self._skipping:
            end = piece.find(b"\n")
            skipped = piece if end < 0 else piece[:end]
            self._note(skipped)
            if end < 0:
                return b""
            self._skipping = False
            piece = piece[end:]
        return piece.replace(b"\0", b"") if b"\0" in piece else piece

    def _shorten(self, rest: bytes) -> bytes:
        """Of an event that is too long only the begin is kept; the rest is skipped up to the next line."""
        self._skipping = not rest.endswith(b"\n")
        self._note(rest[MAX_EVENT_BYTES:])
        kept = rest[:MAX_EVENT_BYTES]
        return kept if self._skipping else kept.rstrip(b"\n") + b"\n"

    def _note(self, skipped: bytes) -> None:
        if skipped.strip() and (self._wanted is None or self._wanted.search(skipped.lower())):
            self.incomplete = True

    def _last_event(self, data: bytes) -> tuple[int, int | None]:
        """Where the last event begins whose first line is there as a whole, and its time."""
        end = data.rfind(b"\n")
        while end > 0:
            start = data.rfind(b"\n", 0, end) + 1
            stamp = self._stamps.find(data[start:end])
            if stamp is not None and start > 0:
                return start, stamp.at
            end = start - 1
        return 0, None

    def _within(self, data: bytes) -> Iterator[RawEvent]:
        if self._wanted is None:
            spans = self._every(data)
        elif self._dense:
            spans = self._filtered(data, self._wanted)
        else:
            spans = self._around(data, self._wanted)
        found = 0
        for start, end, stamp in spans:
            found += 1
            if self._window.holds(stamp.at):
                yield RawEvent(data[start : min(end, start + MAX_EVENT_BYTES)], stamp)
        self._dense = found * _DENSE_BYTES > len(data)

    def _every(self, data: bytes) -> Iterator[tuple[int, int, Stamp]]:
        find, dull = self._stamps.find, self.dull
        current: Stamp | None = None
        begin = position = 0
        for line in data.split(b"\n"):
            if dull and skeleton(line) in dull:
                if current is not None:
                    yield begin, position, current
                current = None
            else:
                stamp = find(line)
                if stamp is not None:
                    if current is not None:
                        yield begin, position, current
                    begin, current = position, stamp
            position += len(line) + 1
        if current is not None:
            yield begin, len(data), current

    def _filtered(self, data: bytes, wanted: re.Pattern[bytes]) -> Iterator[tuple[int, int, Stamp]]:
        lowered = data.lower()
        for start, end, stamp in self._every(data):
            if wanted.search(lowered, start, end):
                yield start, end, stamp

    def _around(self, data: bytes, wanted: re.Pattern[bytes]) -> Iterator[tuple[int, int, Stamp]]:
        done = 0
        for hit in wanted.finditer(data.lower()):
            if hit.start() < done:
                continue
            found = self._begin(data, hit.start(), done)
            end = self._end(data, hit.start())
            if found is not None:
                yield found[0], end, found[1]
            done = end

    def _begin(self, data: bytes, position: int, floor: int) -> tuple[int, Stamp] | None:
        start = data.rfind(b"\n", floor, position) + 1 or floor
        while True:
            end = data.find(b"\n", start)
            stamp = self._stamps.find(data[start : len(data) if end < 0 else end])
            if stamp is not None:
                return start, stamp
            if start <= floor:
                return None
            start = data.rfind(b"\n", floor, start - 1) + 1 or floor

    def _end(self, data: bytes, position: int) -> int:
        """Where the next event begins."""
        end = data.find(b"\n", position)
        while end >= 0:
            start = end + 1
            end = data.find(b"\n", start)
            if self._stamps.find(data[start : len(data) if end < 0 else end]) is not None:
                return start
        return len(data)
