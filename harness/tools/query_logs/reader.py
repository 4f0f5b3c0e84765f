"""Bytes of one log file: the part that holds a time window, found by position, in pieces of bounded size.

Plain files are searched by their times, so that a window costs what it holds, not what the file holds. Packed files
and those in wide encodings are read from their begin. Everything here blocks: it runs in a worker thread.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from harness.tools.query_logs.files import BrokenFileError, OpenFile, inflate
from harness.tools.query_logs.formats import StampFinder
from harness.tools.query_logs.timestamps import SECOND, Micros

SLACK: Micros = 60 * SECOND
"""Lines of concurrent writers are out of order by seconds; a minute is safe."""
_NEAR_BYTES = 64 * 1024
_PROBE_BYTES = 1 << 20
"""How far a probe looks for the next time: behind it would be an event of more than 1 MiB."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to `end`, both included."""

    start: Micros
    end: Micros

    def holds(self, at: Micros) -> bool:
        return self.start <= at <= self.end


def read_window(file: OpenFile, window: Window, stamps: StampFinder, piece_bytes: int) -> Iterator[bytes]:
    """The bytes between the lines that are surely before and surely behind the window.

    Raises `OSError`, and `BrokenFileError` where the file ends early.
    """
    if file.packed or file.encoding is not None:
        return _whole(file, piece_bytes)
    return _part(file, window, stamps, piece_bytes)


def _part(file: OpenFile, window: Window, stamps: StampFinder, piece_bytes: int) -> Iterator[bytes]:
    handle = file.handle
    start = _search(file, window.start - SLACK, stamps, before=True)
    end = _search(file, window.end + SLACK, stamps, before=False)
    handle.seek(start)
    position = start
    # What was appended since the file was opened is read too when the window reaches its end.
    while end >= file.size or position < end:
        size = piece_bytes if end >= file.size else min(piece_bytes, end - position)
        piece = handle.read(size)
        if not piece:
            if position < file.size:
                raise BrokenFileError
            return
        position += len(piece)
        yield piece


def _search(file: OpenFile, target: Micros, stamps: StampFinder, *, before: bool) -> int:
    """A position at the begin of a line: with `before`, all lines above it are earlier than `target`, else all
    lines from it on are later. Where times are missing the position errs to the safe side.
    """
    low = low_line = file.start
    high = high_line = file.size
    while high - low > _NEAR_BYTES:
        middle = (low + high) // 2
        found = _next_time(file.handle, middle, stamps)
        earlier = (not before) if found is None else found[0] < target if before else found[0] <= target
        if earlier:
            low = middle
            low_line = low_line if found is None else found[1]
        else:
            high = middle
            high_line = high_line if found is None else found[1]
    return low_line if before else high_line


def _next_time(handle: BinaryIO, position: int, stamps: StampFinder) -> tuple[Micros, int] | None:
    """The first time behind `position` and where its line begins."""
    handle.seek(position)
    read = 0
    rest = b""
    while read < _PROBE_BYTES:
        piece = handle.read(8 * 1024 if not read else _NEAR_BYTES)
        if not piece:
            return None
        read += len(piece)
        rest += piece
        start = rest.find(b"\n") + 1
        while start and (end := rest.find(b"\n", start)) >= 0:
            stamp = stamps.find(rest[start:end].lstrip(b"\0"))
            if stamp is not None:
                return stamp.at, position + start
            start = end + 1
    return None


def _whole(file: OpenFile, piece_bytes: int) -> Iterator[bytes]:
    pieces = inflate(file.handle, piece_bytes) if file.packed else iter(lambda: file.handle.read(piece_bytes), b"")
    if file.encoding is None:
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(file.encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).removeprefix("\ufeff").encode()
    yield decoder.decode(b"", final=True).encode()
