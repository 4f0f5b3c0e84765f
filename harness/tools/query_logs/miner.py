"""PatternMiner: raw lines in, patterns out, as `manage.py logpatterns` needs them."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.tools.query_logs.describe import describe
from harness.tools.query_logs.formats import StampFinder
from harness.tools.query_logs.masks import Masked, mask, outline, skeleton
from harness.tools.query_logs.patterns import Tokens, group, pattern_id
from harness.tools.query_logs.timestamps import to_micros

_ANY_TIME = to_micros(datetime(2200, 1, 1, tzinfo=UTC))  # the year of a yearless time does not matter here
_MAX_KNOWN = 50_000
_MAX_KNOWN_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern. `level` is the most frequent one, `example` the message of its first line."""

    pattern_id: str
    count: int
    level: str | None
    template: str
    example: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """Lines of one masked message and one level."""

    masked: Masked
    level: str | None
    example: str


class PatternMiner:
    """Takes lines one by one. Memory grows with the number of different masked messages, and 4 bytes a line."""

    def __init__(self) -> None:
        self._stamps = StampFinder(UTC, _ANY_TIME)
        self._kinds: list[_Kind] = []
        self._numbers: dict[tuple[Tokens, str | None], int] = {}
        self._known: dict[bytes, int] = {}
        self._seen: dict[bytes, int] = {}
        self._lines = array("I")

    def add(self, line: bytes) -> None:
        """A line without its end. Lines that differ in figures only are looked up, not read again."""
        seen = outline(line)  # cheaper than the skeleton, and found as often once some lines were read
        number = self._seen.get(seen)
        if number is None:
            number = self._look_up(line)
            if len(self._seen) < _MAX_KNOWN and len(seen) <= _MAX_KNOWN_BYTES:
                self._seen[seen] = number
        self._lines.append(number)

    def _look_up(self, line: bytes) -> int:
        key = skeleton(line)
        number = self._known.get(key)
        if number is None:
            number = self._read(line)
            if len(self._known) < _MAX_KNOWN and len(key) <= _MAX_KNOWN_BYTES:
                self._known[key] = number
        return number

    def _read(self, line: bytes) -> int:
        said = describe(line.decode("utf-8", "replace"), self._stamps.find(line))
        masked = mask(said.subject)
        number = self._numbers.setdefault((masked.tokens, said.level), len(self._kinds))
        if number == len(self._kinds):
            self._kinds.append(_Kind(masked, said.level, said.message))
        return number

    def patterns(self) -> list[Pattern]:
        """Most frequent first."""
        counts = Counter(self._lines)
        template_of = group(kind.masked.tokens for kind in self._kinds)
        members: dict[Tokens, list[int]] = defaultdict(list)
        for number, kind in enumerate(self._kinds):
            members[template_of[kind.masked.tokens]].append(number)
        found = []
        for template, numbers in members.items():
            levels: Counter[str | None] = Counter()
            for number in numbers:
                levels[self._kinds[number].level] += counts[number]
            level = min(levels, key=lambda each: (-levels[each], each or ""))
            plainest = min((self._kinds[number].masked for number in numbers), key=lambda each: each.tokens)
            found.append(
                Pattern(
                    pattern_id(template),
                    levels.total(),
                    level,
                    plainest.text(template),
                    self._kinds[numbers[0]].example,
                )
            )
        return sorted(found, key=lambda each: (-each.count, each.template, each.pattern_id))

    def assigned(self) -> Iterator[str]:
        """The pattern's id of each line, in the order of the lines."""
        template_of = group(kind.masked.tokens for kind in self._kinds)
        names = [pattern_id(template_of[kind.masked.tokens]) for kind in self._kinds]
        return (names[number] for number in self._lines)
