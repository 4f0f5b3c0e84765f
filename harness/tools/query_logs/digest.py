"""Digest: what is kept of a stream of matching events. Its size is bounded, whatever matches.

Counts are exact. Events are a sample that keeps the time line: the first and the last, the rare before the common,
those where the level changes, and some in between.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from harness.tools.query_logs.levels import severity
from harness.tools.query_logs.masks import Masked
from harness.tools.query_logs.patterns import Tokens, group
from harness.tools.query_logs.scan import RawEvent
from harness.tools.query_logs.timestamps import Micros

MAX_GROUPS = 1_500
KEPT_BYTES = 8_000
_SPREAD = 64
_MAX_KINDS = 5_000


class Kind(NamedTuple):
    """What an event is counted under. Events of one kind may differ in figures."""

    level: str | None
    service: str | None
    masked: Masked


class Kept(NamedTuple):
    """An event of the sample. `source` is what its file is named after."""

    event: RawEvent
    kind: Kind
    source: str | None

    @property
    def at(self) -> Micros:
        return self.event.stamp.at


@dataclass(slots=True)
class Group:
    """Matching events of one template, level and service."""

    count: int
    first: Kept
    last: Kept

    def count_in(self, kept: Kept) -> None:
        self.count += 1
        at = kept.event.stamp.at
        if at >= self.last.event.stamp.at:
            self.last = kept
        elif at < self.first.event.stamp.at:
            self.first = kept

    def take_in(self, other: "Group") -> None:
        self.count += other.count
        if other.first.at < self.first.at:
            self.first = other.first
        if other.last.at >= self.last.at:
            self.last = other.last


_Key = tuple[Tokens, str | None, str | None]


class Digest:
    """Takes matching events, roughly in the order of time. `check` is called during long work and may raise."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self.match_count = 0
        self.overflowed = False
        """Whether there were too many groups to keep the rarest apart."""
        self._groups: dict[_Key, Group] = {}
        # By identity, as tuples are hashed anew each time; the kind is held so that its id stays its own.
        self._group_of: dict[int, tuple[Kind, Group]] = {}
        self._general: dict[Tokens, Tokens] = {}
        self._changes: dict[tuple[str | None, str | None], tuple[Kept, Kept]] = {}
        self._level: str | None = None
        self._spread: list[Kept] = []
        self._step = 1

    def add(self, event: RawEvent, kind: Kind, source: str | None) -> None:
        if len(event.data) > KEPT_BYTES:
            event = RawEvent(event.data[:KEPT_BYTES], event.stamp)
        kept = Kept(event, kind, source)
        found = self._group_of.get(id(kind))
        if found is None:
            self._find(kind, kept)
        else:
            found[1].count_in(kept)
        if kind.level != self._level or not self.match_count:
            if self.match_count:
                change = (self._level, kind.level)
                known = self._changes.get(change)
                self._changes[change] = (kept if known is None else known[0], kept)
            self._level = kind.level
        if self.match_count % self._step == 0:
            self._spread.append(kept)
            if len(self._spread) >= 2 * _SPREAD:
                del self._spread[1::2]
                self._step *= 2
        self.match_count += 1

    def groups(self) -> list[Group]:
        """Patterns, most frequent first."""
        self._fold()
        return sorted(self._groups.values(), key=lambda each: (-each.count, each.first.at, each.first.event.data))

    def sample(self, groups: list[Group], most: int) -> list[Kept]:
        """At most `most` events, the most telling first."""
        chosen: dict[int, Kept] = {}
        for kept in self._by_worth(groups):
            chosen.setdefault(id(kept.event), kept)
            if len(chosen) == most:
                break
        return list(chosen.values())

    def _by_worth(self, groups: list[Group]) -> Iterator[Kept]:
        if not groups:
            return
        yield min((each.first for each in groups), key=lambda kept: kept.at)
        yield max((each.last for each in groups), key=lambda kept: kept.at)
        worst = sorted(groups, key=lambda each: (-severity(each.first.kind.level), each.count))
        rare = sorted(groups, key=lambda each: (each.count, -severity(each.first.kind.level)))
        # By turns, so that neither a hundred kinds of errors nor a hundred rare INFO lines crowd the other out.
        for severe, seldom in zip(worst, rare, strict=True):
            yield severe.first
            yield seldom.first
        changes = sorted(self._changes.values(), key=lambda pair: -severity(pair[0].kind.level))
        for first, last in changes:
            yield first
            yield last
        for each in groups:
            yield each.last
        yield from self._spread

    def _find(self, kind: Kind, kept: Kept) -> None:
        """Count an event in the group of its kind, which is opened if there is none."""
        key = self._key(kind)
        if key not in self._groups and len(self._groups) >= MAX_GROUPS and not self.overflowed:
            self._fold()
            self.overflowed = len(self._groups) > MAX_GROUPS * 3 // 4
            key = self._key(kind)
        if key not in self._groups and self.overflowed:
            key = ((), kind.level, None)
        found = self._groups.get(key)
        if found is None:
            found = self._groups[key] = Group(1, kept, kept)
        else:
            found.count_in(kept)
        if len(self._group_of) >= _MAX_KINDS:
            self._group_of.clear()
        self._group_of[id(kind)] = (kind, found)

    def _key(self, kind: Kind) -> _Key:
        tokens = kind.masked.tokens
        return self._general.get(tokens, tokens), kind.level, kind.service

    def _fold(self) -> None:
        """Join the groups whose messages turn out to have one template."""
        template_of = group({tokens for tokens, _, _ in self._groups}, self._check)
        self._general = {known: template_of.get(general, general) for known, general in self._general.items()}
        self._general |= {tokens: template for tokens, template in template_of.items() if tokens != template}
        folded: dict[_Key, Group] = {}
        for (tokens, level, service), each in self._groups.items():
            found = folded.setdefault((template_of[tokens], level, service), each)
            if found is not each:
                found.take_in(each)
        self._groups = folded
        self._group_of.clear()
