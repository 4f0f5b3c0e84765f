"""The packaged scenario as log lines whose times follow the clock. The same minute always has the same lines."""

import random
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from harness.config import Section
from harness.tools.query_logs.timestamps import SECOND, Micros, to_text

_MINUTE: Micros = 60 * SECOND
_OTHER_TOPIC = "SYSTEM"
"""What topics of other names than the scenario's hold: noise, so that none of them has an incident by accident."""


class _Entry(Section):
    """One kind of line and how often it is written."""

    per_minute: float
    line: str


def mock_lines(topic: str, start: Micros, end: Micros) -> Iterator[bytes]:
    """The lines of each minute between two times, in order."""
    entries = _scenario().get(topic) or _scenario()[_OTHER_TOPIC]
    for minute in range(start - start % _MINUTE, end + 1, _MINUTE):
        written = [
            (at, entry.line.strip().format_map(_values(at, dice)))
            for number, entry in enumerate(entries)
            for dice in [random.Random(f"{topic} {number} {minute}")]  # noqa: S311 - a scenario, the same each time
            for at in _times(entry.per_minute, minute, dice)
        ]
        yield "".join(f"{line}\n" for _, line in sorted(written)).encode()


@cache
def _scenario() -> dict[str, tuple[_Entry, ...]]:
    text = files(__package__).joinpath("scenario.toml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, tuple[_Entry, ...]]).validate_python(tomllib.loads(text))


def _times(per_minute: float, minute: Micros, dice: random.Random) -> Iterator[Micros]:
    """Evenly over the minute, each somewhere in the first half of its share of it."""
    if per_minute < 1 and dice.random() >= per_minute:
        return
    count = max(1, round(per_minute))
    share = _MINUTE // count
    for number in range(count):
        at = minute + number * share + dice.randrange(share // 2)
        yield at - at % 1_000


def _values(at: Micros, dice: random.Random) -> dict[str, object]:
    moment = datetime.fromtimestamp(at // SECOND, UTC)
    return {
        "time": to_text(at),
        "clf": moment.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "order": f"order-{dice.randrange(100, 20_100)}",
        "user": dice.randrange(10_000, 14_000),
        "amount": f"{dice.uniform(5, 900):.2f}",
        "channel": dice.choice(("WECHAT", "ALIPAY", "CARD")),
        "thread": f"http-nio-8080-exec-{dice.randrange(1, 200)}",
        "sku": f"SKU-{dice.randrange(1_000, 9_999)}",
        "small": dice.randrange(1, 9),
        "two": f"{dice.randrange(100):02}",
        "fast": dice.randrange(12, 90),
        "pending": dice.randrange(12, 40),
        "held": dice.randrange(61, 190),
        "rate": dice.randrange(11, 15),
        "token": "".join(dice.choices("abcdefghijkmnpqrstuvwxyz23456789", k=32)),
        "ip": f"10.20.{dice.randrange(4)}.{dice.randrange(2, 250)}",
        "path": dice.choice(("/api/orders", "/api/cart", "/api/stock", "/api/users/me")),
        "bytes": dice.randrange(200, 9_000),
        "connected": dice.randrange(140, 152),
        "thread_id": dice.randrange(8_000, 9_000),
        "slow": f"{dice.uniform(2, 9):.1f}",
        "rows": dice.randrange(90_000, 400_000),
        "memory": dice.randrange(58, 66),
        "disk": dice.randrange(71, 79),
    }
