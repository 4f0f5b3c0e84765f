"""Real log files: the events of a time window, found by position, read once, in bounded memory.

Plain files are searched by binary search over their timestamps, so that a window costs what it holds, not what
the file holds. Gzip files are read from their start. Everything here blocks: it runs in a worker thread, which
looks at `stop` every few lines.
"""

import codecs
import glob
import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from threading import Event
from typing import BinaryIO

from harness.tools.query_logs.events import (
    MAX_EVENT_CHARACTERS,
    LogEvent,
    describe,
    describe_json,
    json_fields,
    json_time,
)
from harness.tools.query_logs.timestamps import StampReader

SLACK = timedelta(seconds=60)  # lines of concurrent writers are out of order by seconds
_LINE_BYTES = 64 * 1024  # of a longer line the rest is skipped
_PROBE_BYTES = 256 * 1024
_CHECK_LINES = 200
_MAX_FILES = 10_000
_BINARY_SHARE = 0.1


class StoppedError(Exception):
    """The caller does not want the rest."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` to `end`, both included."""

    start: datetime
    end: datetime


def find_files(paths: Sequence[str]) -> list[Path]:
    """The files of a topic: folders with all below, files, globs; each once, in order of name."""
    found: dict[Path, None] = {}
    for path in paths:
        for name in sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else [path]:
            top = Path(name)
            inside = sorted(top.rglob("*")) if top.is_dir() else [top]
            for file in inside:
                if file.is_file():
                    found[file] = None
                if len(found) >= _MAX_FILES:
                    return list(found)
    return list(found)


def read_events(path: Path, window: Window, zone: tzinfo, stop: Event) -> Iterator[LogEvent]:
    """The events of one file in the window, in the file's order. A file that vanishes meanwhile ends early.

    Raises `OSError` when the file cannot be read at all, `StoppedError` when `stop` is set.
    """
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if changed < window.start - SLACK:
        return
    stamps = StampReader(zone, changed)
    service = _service_of(path)
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if packed:
            with gzip.open(raw) as unpacked:
                yield from _scan(unpacked, window, stamps, service, stop)  # type: ignore[arg-type]
            return
        head = raw.read(4096)
        if _is_binary(head):
            return
        raw.seek(_first_position(raw, window.start - SLACK, stamps, _encoding(head)))
        yield from _scan(raw, window, stamps, service, stop, _encoding(head))


def _scan(
    file: BinaryIO, window: Window, stamps: StampReader, service: str | None, stop: Event, encoding: str = "utf-8"
) -> Iterator[LogEvent]:
    """Join lines to events until one is later than the window by more than the slack."""
    current: LogEvent | None = None
    count = 0
    try:
        for line in _lines(file, encoding):
            count += 1
            if count % _CHECK_LINES == 0 and stop.is_set():
                raise StoppedError
            event = _event(line, stamps, service)
            if event is None:
                if current is not None and len(current.text) < MAX_EVENT_CHARACTERS:
                    current.text = f"{current.text}\n{line}"[:MAX_EVENT_CHARACTERS]
                    current.message = f"{current.message}\n{line}"[:MAX_EVENT_CHARACTERS]
                continue
            if current is not None and window.start <= current.timestamp <= window.end:
                yield current
            current = event
            if event.timestamp > window.end + SLACK:
                return
    except (EOFError, zlib.error, gzip.BadGzipFile):
        pass  # a gzip file that is still being written: what could be read counts
    if current is not None and window.start <= current.timestamp <= window.end:
        yield current


def _event(line: str, stamps: StampReader, service: str | None) -> LogEvent | None:
    """The event that a line begins, or None for a continuation line."""
    fields = json_fields(line)
    if fields is not None:
        at = stamps.value(json_time(fields))
        return None if at is None else describe_json(at, line, fields, service)
    stamp = stamps.find(line)
    if stamp is None:
        return None
    body = line[: stamp.start] + line[stamp.end :] if stamp.start > 4 else line[stamp.end :]
    return describe(stamp.at, line, body, stamp.klog, service)


def _lines(file: BinaryIO, encoding: str = "utf-8") -> Iterator[str]:
    """Lines without their ends; of one that is too long the first part. Bytes that are no text are replaced."""
    if encoding != "utf-8":
        yield from _wide_lines(file, encoding)
        return
    while raw := file.readline(_LINE_BYTES):
        if not raw.endswith(b"\n"):
            while rest := file.readline(_LINE_BYTES):
                if rest.endswith(b"\n"):
                    break
        line = raw.rstrip(b"\r\n")
        try:
            yield line.decode()
        except UnicodeDecodeError:
            yield _decode_mixed(line)


def _wide_lines(file: BinaryIO, encoding: str) -> Iterator[str]:
    reader = codecs.getreader(encoding)(file, "replace")
    while line := reader.readline(_LINE_BYTES):
        yield line.rstrip("\r\n").removeprefix("\ufeff")


def _decode_mixed(line: bytes) -> str:
    """A line of another encoding among lines of UTF-8: GB18030 where it is valid, else with replacements."""
    try:
        return line.decode("gb18030")
    except UnicodeDecodeError:
        return line.decode(errors="replace")


def _first_position(file: BinaryIO, start: datetime, stamps: StampReader, encoding: str) -> int:
    """Where the first line at or after `start` may begin: binary search by time, then back to a line's start."""
    if encoding != "utf-8":
        return 0
    low, high = 0, os.fstat(file.fileno()).st_size
    while high - low > _PROBE_BYTES:
        middle = (low + high) // 2
        at = _time_after(file, middle, stamps)
        if at is None or at >= start:
            high = middle
        else:
            low = middle
    file.seek(low)
    if low:
        file.readline()
    return file.tell()


def _time_after(file: BinaryIO, position: int, stamps: StampReader) -> datetime | None:
    """The first timestamp behind `position`, if there is one near."""
    file.seek(position)
    file.readline(_PROBE_BYTES)
    read = 0
    while read < _PROBE_BYTES and (raw := file.readline(_LINE_BYTES)):
        read += len(raw)
        event = _event(raw.rstrip(b"\r\n").decode(errors="replace"), stamps, None)
        if event is not None:
            return event.timestamp
    return None


def _encoding(head: bytes) -> str:
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"


def _is_binary(head: bytes) -> bool:
    if _encoding(head) != "utf-8" or not head:
        return False
    control = sum(byte < 32 and byte not in b"\t\n\r\x1b\x0c\x08" for byte in head)
    return control > len(head) * _BINARY_SHARE


def _service_of(path: Path) -> str | None:
    """The name that a file gives its events: `order-service.log.2.gz` is of `order-service`."""
    name = path.name.split(".")[0]
    return name or None
