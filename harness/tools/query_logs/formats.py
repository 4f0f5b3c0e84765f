"""Where a line carries its time, in each format that `query_logs` reads.

A line that carries none continues the event before it. The formats are data: one row each, no code per system.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from enum import Enum, auto
from typing import NamedTuple

from harness.tools.query_logs import timestamps
from harness.tools.query_logs.timestamps import CivilParser, Micros

HEAD_BYTES = 512  # a text line carries its time this early or not at all
_MAX_CACHED = 4_096
_YEARLESS_LEAD = timestamps.DAY  # clocks of other machines run ahead; a day more is last year


class Layout(Enum):
    """What follows the time, as far as level and service are found differently."""

    PLAIN = auto()
    SYSLOG = auto()
    ACCESS = auto()
    KLOG = auto()
    LOGCAT = auto()
    JSON = auto()
    SLOW_QUERY = auto()
    TWO_LINES = auto()  # java.util.logging: the level stands in front of the second line


class Stamp(NamedTuple):
    """The time of a line and the bytes that it stands in."""

    at: Micros
    start: int
    end: int
    layout: Layout


@dataclass(frozen=True, slots=True)
class _Format:
    """`pattern` has the groups `t` (all but fraction and zone), `f` (fraction), `z` (zone) and the parts of `t`."""

    pattern: re.Pattern[bytes]
    parse: CivilParser
    layout: Layout = Layout.PLAIN
    parts: tuple[int, ...] = field(init=False)
    named: tuple[int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        index = self.pattern.groupindex
        named = (index["t"], index["f"], index["z"])
        object.__setattr__(self, "named", named)
        object.__setattr__(self, "parts", tuple(n for n in range(1, self.pattern.groups + 1) if n not in named))


_CLOCK = rb"(\d\d):(\d\d):(\d\d)"
_MONTH = rb"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_WEEKDAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_FRACTION = rb"(?:[.,:](?P<f>\d{1,9})(?!\d))?"
_ZONE = rb"(?: ?(?P<z>Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d(?!\d))(?![\w:]))?"
# Before the time may stand a host, a container, a priority, a level; no quotation, no assignment, no list: a date
# behind those belongs to the text.
_LEAD = rb"(?![#<])[^'\"=({\n]{0,80}?(?<![\w.:/-])"


def _format(pattern: bytes, parse: CivilParser, layout: Layout = Layout.PLAIN) -> _Format:
    return _Format(re.compile(pattern), parse, layout)


_FORMATS = (
    _format(
        rb"# Time: (?P<t>(\d{4})-(\d\d)-(\d\d)T" + _CLOCK + rb")" + _FRACTION + _ZONE,
        timestamps.year_month_day,
        Layout.SLOW_QUERY,
    ),
    _format(
        rb"# Time: (?P<t>(\d\d)(\d\d)(\d\d) +(\d{1,2}):(\d\d):(\d\d))(?P<f>)(?P<z>)",
        timestamps.short_year_month_day,
        Layout.SLOW_QUERY,
    ),
    # RFC 5424, with priority and version before the time
    _format(
        rb"<\d{1,3}>\d (?P<t>(\d{4})-(\d\d)-(\d\d)T" + _CLOCK + rb")" + _FRACTION + _ZONE,
        timestamps.year_month_day,
        Layout.SYSLOG,
    ),
    _format(
        _LEAD
        + rb"(?P<t>(\d{4})([-/.])(\d\d)\3(\d\d)(?:[T ]|-(?=\d\d\.))(\d\d)[:.](\d\d)[:.](\d\d))"
        + _FRACTION
        + _ZONE,
        lambda parts: timestamps.year_month_day((parts[0], *parts[2:])),
    ),
    _format(
        rb"(?:<\d{1,3}>)?(?P<t>"
        + _MONTH
        + rb" {1,2}(\d{1,2}) (?:(\d{4}) )?"
        + _CLOCK
        + rb")"
        + _FRACTION
        + rb"(?P<z>)",
        timestamps.name_day,
        Layout.SYSLOG,
    ),
    _format(
        rb"[^\n\[]{0,400}\[(?P<t>(\d\d)/" + _MONTH + rb"/(\d{4}):" + _CLOCK + rb")(?P<f>) ?(?P<z>[+-]\d{4})?\]",
        timestamps.day_name_year,
        Layout.ACCESS,
    ),
    _format(
        rb"\[?"
        + _WEEKDAY
        + rb" (?P<t>"
        + _MONTH
        + rb" {1,2}(\d{1,2}) "
        + _CLOCK
        + rb"(?:\.\d{1,9})? (\d{4}))(?P<f>)(?P<z>)\]?",
        timestamps.name_day_clock_year,
    ),
    _format(
        rb"[IWEF](?P<t>(\d\d)(\d\d) " + _CLOCK + rb")" + _FRACTION + rb"(?P<z>)", timestamps.month_day, Layout.KLOG
    ),
    _format(
        rb"(?P<t>(\d\d)-(\d\d) "
        + _CLOCK
        + rb")"
        + _FRACTION
        + rb"(?P<z>)(?= +\d+ +\d+ [VDIWEFA] |: [VDIWEFA]/| [VDIWEFA]/)",
        timestamps.month_day,
        Layout.LOGCAT,
    ),
    _format(
        rb"(?P<t>(\d\d)(\d\d)(\d\d) {1,2}(\d{1,2}):?(\d\d):?(\d\d))(?P<f>)(?P<z>)(?![\w:])",
        timestamps.short_year_month_day,
    ),
    _format(
        rb"\[?(?P<t>(\d\d)/(\d\d)/(\d\d) " + _CLOCK + rb")" + _FRACTION + rb"(?P<z>)", timestamps.short_year_month_day
    ),
    _format(
        rb"(?P<t>(\d{4})(\d\d)(\d\d)[T -](\d{1,2}):?(\d{1,2}):?(\d{1,2}))" + _FRACTION + _ZONE,
        timestamps.year_month_day,
    ),
    _format(
        rb"\[?(?:\d{1,7}:[A-Z] |"
        + _WEEKDAY
        + rb", )?(?P<t>(\d{1,2})[- ]"
        + _MONTH
        + rb"[- ](\d{4})[ T]"
        + _CLOCK
        + rb")"
        + _FRACTION
        + _ZONE,
        timestamps.day_name_year,
    ),
    _format(
        _LEAD
        + "(?P<t>(\\d{4})年(\\d{1,2})月(\\d{1,2})日".encode()
        + rb" ?(\d\d):(\d\d):(\d\d))"
        + _FRACTION
        + rb"(?P<z>)",
        timestamps.year_month_day,
    ),
    _format(
        rb"\[?(?P<t>" + _MONTH + rb" (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d):(\d\d) ([AaPp][Mm]))(?P<f>)(?P<z>)",
        timestamps.twelve_hours,
        Layout.TWO_LINES,
    ),
)
_EPOCH = re.compile(
    rb"(?:type=\S{1,40} msg=audit\(|[\[(<-]{0,2} ?)(\d{10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19})(?=[\]\s,:|>)]|$)"
)
_TIME_KEYS = rb"(?:@|log_?|event_?)?(?:timestamp|time|datetime)|ts|@?t|date|asctime|time_local|time_iso8601"
_LOGFMT = re.compile(rb"(?:^|[\s,|\[])(?i:" + _TIME_KEYS + rb")=(?:\"([^\"\n]{8,40})\"|([^\s\"]{8,40}))")
_JSON = re.compile(
    rb"\"(?i:" + _TIME_KEYS + rb"|timeMillis|epochSecond|__REALTIME_TIMESTAMP)\"\s*:\s*"
    rb"(?:\{\s*\"(?:\$date|epochSecond)\"\s*:\s*)?(?:\"([^\"\n]{8,40})\"|(\d{10,19}(?:\.\d{1,9})?))"
)
_NUMBER = re.compile(rb"\d{10,19}(?:\.\d{1,9})?")
_CONTINUE_BYTES = frozenset(bytes([byte]) for byte in b" \tCSTgca.)}]")
_CONTINUES = re.compile(rb"[ \t]|Caused by|Suppressed|Traceback|goroutine \d|created by |at |\.\.\. |[)}\]]")


_ENDS = frozenset((b" ", b"\t", b"]", b"|"))  # behind these a time is over, whatever follows, but for a zone
_ZONE_BEGINS = frozenset(bytes([byte]) for byte in b"+-ZUG")


class _Repeated:
    """The notation of one line, to read the next lines of the same second without a regular expression."""

    def __init__(self, line: bytes, stamp: Stamp, base: Micros, second_end: int, figures: int) -> None:
        """`base` is the time without its fraction, which has `figures` digits behind a sign at `second_end`."""
        self._stamp = stamp
        self._base = base
        self._prefix = line[: second_end + 1] if figures else line[: stamp.end]
        self._figures = figures
        self._tail = line[second_end + 1 + figures : stamp.end + 1] if figures else line[stamp.end : stamp.end + 1]

    def read(self, line: bytes) -> Stamp | None:
        """None where the line is written in any other way."""
        if not line.startswith(self._prefix):
            return None
        position = len(self._prefix)
        figures = self._figures
        fraction = line[position : position + figures]
        position += figures
        if not line.startswith(self._tail, position) or line[position + 1 : position + 2] in _ZONE_BEGINS:
            return None
        if not figures:
            return self._stamp
        if not fraction.isdigit():
            return None
        _, start, end, layout = self._stamp
        return Stamp(self._base + timestamps.fraction_micros(fraction), start, end, layout)


class StampFinder:
    """Finds the times of one file, trying first the format that fitted last.

    `zone` is that of times without one; those without a year are not more than a day after `newest`.
    """

    def __init__(self, zone: tzinfo, newest: Micros) -> None:
        self._zone = zone
        self._newest = newest + _YEARLESS_LEAD
        self._formats = list(_FORMATS)
        self._known: dict[tuple[bytes, bytes | None], Micros] = {}
        self._repeated: _Repeated | None = None

    def find(self, line: bytes) -> Stamp | None:
        """The time of a line that begins an event; None for a line that continues one."""
        if self._repeated is not None:
            again = self._repeated.read(line)
            if again is not None:
                return again
        first = line[:1]
        if first == b"{":
            return self._in_field(_JSON.search(line), Layout.JSON)
        if first in _CONTINUE_BYTES and _CONTINUES.match(line):
            return None
        found = self._calendar(line, learn=True)
        if found is not None:
            return found
        match = _EPOCH.match(line)
        if match is not None:
            at = timestamps.from_epoch(match[1])
            return None if at is None else Stamp(at, match.start(1), match.end(1), Layout.PLAIN)
        return self._in_field(_LOGFMT.search(line, 0, HEAD_BYTES), Layout.PLAIN) if b"=" in line else None

    def _calendar(self, text: bytes, *, learn: bool = False) -> Stamp | None:
        for position, candidate in enumerate(self._formats):
            match = candidate.pattern.match(text, 0, HEAD_BYTES)
            if match is None:
                continue
            written, fraction, zone = match.group(*candidate.named)
            at = self._known.get((written, zone))
            if at is None:
                at = self._instant(candidate, match, zone)
                if at is None:
                    continue
                if len(self._known) >= _MAX_CACHED:
                    self._known.clear()
                self._known[written, zone] = at
            base = at
            if fraction:
                at += timestamps.fraction_micros(fraction)
            if position:
                self._formats.insert(0, self._formats.pop(position))
            start, last_fraction, last_zone = candidate.named
            end = match.end(last_zone)
            if end < 0:
                end = match.end(last_fraction)
            stamp = Stamp(at, match.start(start), end if end >= 0 else match.end(start), candidate.layout)
            if learn and text[stamp.end : stamp.end + 1] in _ENDS:
                self._repeated = _Repeated(text, stamp, base, match.end(start), len(fraction or b""))
            return stamp
        return None

    def _instant(self, found: _Format, match: re.Match[bytes], zone: bytes | None) -> Micros | None:
        try:
            civil = found.parse(match.group(*found.parts))
            if zone:
                return timestamps.with_zone(civil, UTC, self._newest) - timestamps.offset_micros(zone)
            return timestamps.with_zone(civil, self._zone, self._newest)
        except (ValueError, OverflowError):
            return None

    def _in_field(self, match: re.Match[bytes] | None, layout: Layout) -> Stamp | None:
        """The time in the value of a JSON or logfmt field."""
        if match is None:
            return None
        group = 1 if match[1] is not None else 2
        value = match[group]
        if _NUMBER.fullmatch(value):
            at = timestamps.from_epoch(value)
        else:
            inner = self._calendar(value) or self._calendar(b"[" + value + b"]")
            at = None if inner is None else inner.at
        return None if at is None else Stamp(at, match.start(group), match.end(group), layout)
