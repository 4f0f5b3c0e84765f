"""Copies of log samples whose times are moved, so that their last line was written at a given time."""

import re
from datetime import datetime, timedelta
from pathlib import Path

# How each of the samples in tests/data/logs writes its time.
_NOTATIONS = (
    (re.compile(r"^\[(\w{3} \w{3} \d\d \d\d:\d\d:\d\d \d{4})\]"), "%a %b %d %H:%M:%S %Y"),
    (re.compile(r"^(\d{6} \d{6}) "), "%y%m%d %H%M%S"),
    (re.compile(r"^(\d\d/\d\d/\d\d \d\d:\d\d:\d\d) "), "%y/%m/%d %H:%M:%S"),
    (re.compile(r"^(\w{3} [ \d]\d \d\d:\d\d:\d\d) "), "%b %d %H:%M:%S"),
)
_YEARLESS = 2015
"""Of the samples without a year; one in which the date exists."""


def shift_log(source: Path, target: Path, end: datetime) -> None:
    """Write `source` to `target` with all times moved by one span; the last line's time becomes `end`.

    Times are written in the zone of `end`, to the second; everything else, line ends included, stays.
    """
    lines = source.read_bytes().decode().splitlines(keepends=True)
    pattern, notation = next(each for each in _NOTATIONS if each[0].match(lines[-1]))
    times = [_time(match[1], notation) if (match := pattern.match(line)) else None for line in lines]
    last = times[-1]
    assert last is not None
    span = end.replace(tzinfo=None, microsecond=0) - last
    moved = [_moved(line, pattern, notation, time, span) for line, time in zip(lines, times, strict=True)]
    target.write_bytes("".join(moved).encode())


def _time(text: str, notation: str) -> datetime:
    if "%y" in notation.lower():
        return datetime.strptime(text, notation)  # the notation has no zone
    return datetime.strptime(f"{_YEARLESS} {text}", f"%Y {notation}")


def _moved(line: str, pattern: re.Pattern[str], notation: str, time: datetime | None, span: timedelta) -> str:
    match = pattern.match(line)
    if match is None or time is None:
        return line
    return line[: match.start(1)] + (time + span).strftime(notation) + line[match.end(1) :]
