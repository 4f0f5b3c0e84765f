"""Timestamps as log writers write them, with and without year and zone."""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_MONTHS = {name: number for number, name in enumerate(calendar.month_abbr) if name}
_MONTH = "(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)"
_FRACTION = r"(?:[.,](?P<f>\d{1,9}))?"
_ZONE = r"(?:\s?(?P<z>Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w:]))?"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A found timestamp; `end` is where the rest of the line begins, `start` where the timestamp does."""

    at: datetime
    start: int
    end: int
    klog: str | None = None


@dataclass(frozen=True, slots=True)
class _Format:
    pattern: re.Pattern[str]
    reach: int  # a timestamp that begins later in a line belongs to its text


_FORMATS = (
    _Format(re.compile(rf"(?P<y>\d{{4}})[-/](?P<mo>\d\d)[-/](?P<d>\d\d)[T ]{_CLOCK}{_FRACTION}{_ZONE}"), 24),
    _Format(re.compile(rf"^(?:<\d+>)?{_MONTH} {{1,2}}(?P<d>\d{{1,2}}) (?:(?P<y>\d{{4}}) )?{_CLOCK}{_FRACTION}"), 6),
    _Format(re.compile(rf"\[(?P<d>\d\d)/{_MONTH}/(?P<y>\d{{4}}):{_CLOCK} ?(?P<z>[+-]\d{{4}})?\]"), 400),
    _Format(
        re.compile(
            rf"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} {{1,2}}(?P<d>\d{{1,2}}) {_CLOCK}{_FRACTION} (?P<y>\d{{4}})\]"
        ),
        4,
    ),
    _Format(re.compile(rf"^(?P<klog>[IWEF])(?P<mo>\d\d)(?P<d>\d\d) {_CLOCK}{_FRACTION}"), 0),
    _Format(re.compile(r"^(?P<y2>\d\d)(?P<mo>\d\d)(?P<d>\d\d) {1,2}(?P<h>\d\d):?(?P<m>\d\d):?(?P<s>\d\d)\b"), 0),
    _Format(re.compile(rf"^(?P<y2>\d\d)/(?P<mo>\d\d)/(?P<d>\d\d) {_CLOCK}"), 0),
    _Format(re.compile(r"^\[?(?P<epoch>\d{10}(?:\.\d{1,9})?|\d{13})\]?(?=[\s,:|]|$)"), 0),
    _Format(re.compile(r'(?:^|\s)(?:time|ts|timestamp|t)="?(?P<value>[^"\s]+)"?'), 400),
    _Format(re.compile(r"^# Time: (?P<y2>\d\d)(?P<mo>\d\d)(?P<d>\d\d) {1,2}(?P<h>\d{1,2}):(?P<m>\d\d):(?P<s>\d\d)"), 0),
)


class StampReader:
    """Finds timestamps of one file. The format that fitted last is tried first.

    `zone` is that of timestamps without one; `newest` bounds those without a year: none is later than a day
    after it.
    """

    def __init__(self, zone: tzinfo, newest: datetime) -> None:
        self._zone = zone
        self._newest = newest + timedelta(days=1)
        self._last = _FORMATS[0]

    def find(self, line: str) -> Stamp | None:
        """The timestamp of a line that begins an event; None for a continuation line."""
        head = line[:512]
        found = self._try(self._last, head)
        if found is not None:
            return found
        for candidate in _FORMATS:
            if candidate is not self._last:
                found = self._try(candidate, head)
                if found is not None:
                    self._last = candidate
                    return found
        return None

    def value(self, value: object) -> datetime | None:
        """The time in a field of a JSON line: a text, or seconds, milliseconds, micro- or nanoseconds since 1970."""
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, (int, float)):
            return _epoch(float(value))
        if isinstance(value, str):
            stamp = self.find(value)
            return stamp.at if stamp is not None and stamp.start <= 4 else None
        return None

    def _try(self, candidate: _Format, head: str) -> Stamp | None:
        match = candidate.pattern.search(head)
        if match is None or match.start() > candidate.reach:
            return None
        groups = match.groupdict("")
        try:
            if groups.get("value"):
                at = self._field(groups["value"])
            elif groups.get("epoch"):
                at = _epoch(float(groups["epoch"]))
            else:
                at = self._calendar(groups)
        except (ValueError, OverflowError):
            return None
        return None if at is None else Stamp(at, match.start(), match.end(), groups.get("klog") or None)

    def _field(self, text: str) -> datetime | None:
        if re.fullmatch(r"\d{10,19}(?:\.\d+)?", text):
            return _epoch(float(text))
        match = _FORMATS[0].pattern.match(text)
        return None if match is None else self._calendar(match.groupdict(""))

    def _calendar(self, groups: dict[str, str]) -> datetime:
        month = _MONTHS[groups["mon"]] if groups.get("mon") else int(groups["mo"] or 0)
        fraction = int(((groups.get("f") or "") + "000000")[:6])
        clock = (int(groups["d"] or 0), int(groups["h"] or 0), int(groups["m"] or 0), int(groups["s"] or 0), fraction)
        zone = _zone(groups["z"]) if groups.get("z") else self._zone
        if groups.get("y"):
            return datetime(int(groups["y"] or 0), month, *clock, tzinfo=zone).astimezone(UTC)
        if groups.get("y2"):
            year = int(groups["y2"] or 0)
            return datetime(year + (2000 if year < 70 else 1900), month, *clock, tzinfo=zone).astimezone(UTC)
        return self._without_year(month, clock, zone)

    def _without_year(self, month: int, clock: tuple[int, int, int, int, int], zone: tzinfo) -> datetime:
        """The latest such day that is not in the future; 29 February only in leap years."""
        for year in range(self._newest.year, self._newest.year - 9, -1):
            try:
                at = datetime(year, month, *clock, tzinfo=zone).astimezone(UTC)
            except ValueError:
                continue
            if at <= self._newest:
                return at
        raise ValueError("no such day")


def _epoch(value: float) -> datetime | None:
    for scale in (1.0, 1e3, 1e6, 1e9):
        if 1e8 <= value / scale < 1e10:
            return datetime.fromtimestamp(value / scale, UTC)
    return None


def _zone(text: str) -> tzinfo:
    if text in {"Z", "UTC", "GMT"}:
        return UTC
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
