"""Times as log writers write them, as whole microseconds since 1970 (`Micros`).

Integers instead of `datetime` because a scan compares hundreds of thousands of them.
"""

import calendar
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, TypeAlias

Micros: TypeAlias = int
SECOND: Micros = 1_000_000
DAY: Micros = 86_400 * SECOND

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = {name.lower().encode(): number for number, name in enumerate(calendar.month_abbr) if name}


class Civil(NamedTuple):
    """A time on the calendar and the clock; `year` is None where the writer leaves it out."""

    year: int | None
    month: int
    day: int
    hour: int
    minute: int
    second: int


CivilParser: TypeAlias = Callable[[tuple[bytes, ...]], Civil]


def to_micros(at: datetime) -> Micros:
    """`at` must have a zone."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def to_text(at: Micros) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return (_EPOCH + timedelta(microseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_epoch(text: bytes) -> Micros | None:
    """Seconds (with fraction), milli-, micro- or nanoseconds since 1970, told apart by size; None if none fits."""
    whole, _, fraction = text.partition(b".")
    value = int(whole)
    for scale in (1, 1_000, 1_000_000, 1_000_000_000):
        if 100_000_000 <= value // scale < 10_000_000_000:
            micros = value * SECOND // scale
            return micros + (_fraction(fraction) if scale == 1 else 0)
    return None


def with_zone(civil: Civil, zone: tzinfo, newest: Micros) -> Micros:
    """The instant in `zone`. A missing year is the latest that is not after `newest`.

    Raises ValueError for a day or an hour that does not exist.
    """
    if civil.year is not None:
        return _instant(civil.year, civil, zone)
    year = (_EPOCH + timedelta(microseconds=newest)).year + 1  # zones east of Greenwich are in the new year first
    for candidate in range(year, year - 10, -1):
        try:
            at = _instant(candidate, civil, zone)
        except ValueError:  # 29 February
            continue
        if at <= newest:
            return at
    raise ValueError("no such day in ten years")


def _instant(year: int, civil: Civil, zone: tzinfo) -> Micros:
    leap = 1 if civil.second == 60 else 0
    at = datetime(year, civil.month, civil.day, civil.hour, civil.minute, civil.second - leap, tzinfo=zone)
    return to_micros(at) + leap * SECOND


def fraction_micros(text: bytes | None) -> Micros:
    """The digits behind a decimal sign."""
    return _fraction(text) if text else 0


def _fraction(digits: bytes) -> Micros:
    return int((digits + b"000000")[:6])


def offset_micros(text: bytes) -> Micros:
    """Of `Z`, `UTC`, `+08:00`, `+0800` or `+08`."""
    if text[:1] not in b"+-":
        return 0
    digits = text[1:].replace(b":", b"") + b"00"
    size = (int(digits[:2]) * 60 + int(digits[2:4])) * 60 * SECOND
    return -size if text[:1] == b"-" else size


def month(name: bytes) -> int:
    """Raises ValueError for a name that is no English month."""
    number = _MONTHS.get(name[:3].lower())
    if number is None:
        raise ValueError("no such month")
    return number


def year_month_day(parts: tuple[bytes, ...]) -> Civil:
    year, month_, day, hour, minute, second = parts
    return Civil(int(year), int(month_), int(day), int(hour), int(minute), int(second))


def short_year_month_day(parts: tuple[bytes, ...]) -> Civil:
    """Years of two digits: 70 to 99 are of the last century."""
    year, month_, day, hour, minute, second = (int(part) for part in parts)
    return Civil(year + (1900 if year >= 70 else 2000), month_, day, hour, minute, second)


def month_day(parts: tuple[bytes, ...]) -> Civil:
    month_, day, hour, minute, second = (int(part) for part in parts)
    return Civil(None, month_, day, hour, minute, second)


def name_day(parts: tuple[bytes, ...]) -> Civil:
    """`Jan`, day, year or nothing, clock."""
    name, day, year, hour, minute, second = parts
    return Civil(int(year) if year else None, month(name), int(day), int(hour), int(minute), int(second))


def name_day_clock_year(parts: tuple[bytes, ...]) -> Civil:
    name, day, hour, minute, second, year = parts
    return name_day((name, day, year, hour, minute, second))


def day_name_year(parts: tuple[bytes, ...]) -> Civil:
    day, name, year, hour, minute, second = parts
    return name_day((name, day, year, hour, minute, second))


def twelve_hours(parts: tuple[bytes, ...]) -> Civil:
    """`Jan`, day, year, clock of twelve hours, AM or PM."""
    *front, half = parts
    civil = name_day(tuple(front))
    return civil._replace(hour=civil.hour % 12 + (12 if half.upper() == b"PM" else 0))
