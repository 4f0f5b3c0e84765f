"""Digest: what is kept of a stream of matching events. Its size is bounded, whatever matches.

Counts are exact. Events are a sample that keeps the time line: the first and the last, the first of each pattern,
rare patterns before common ones, and those where the level changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from harness.tools.base import JsonObject
from harness.tools.query_logs.events import LogEvent
from harness.tools.query_logs.patterns import Pattern, PatternMiner

KEPT_PATTERNS = 60
KEPT_EVENTS = 60
KEPT_CHARACTERS = 1_500  # of a message; 120 of them stay far below the record's limit
_KEPT_CHANGES = 40
_SEVERITY = {"TRACE": 0, "DEBUG": 1, "INFO": 2, "NOTICE": 3, None: 3, "WARN": 4, "ERROR": 5, "FATAL": 6}


@dataclass(slots=True)
class _Group:
    pattern: Pattern
    first: LogEvent
    last: LogEvent


class Digest:
    """Takes matching events, file by file, in any order of time."""

    def __init__(self) -> None:
        self.match_count = 0
        self._miner = PatternMiner()
        self._groups: dict[int, _Group] = {}
        self._first: LogEvent | None = None
        self._last: LogEvent | None = None
        self._level: str | None = None
        self._changes: list[LogEvent] = []

    def add(self, event: LogEvent) -> None:
        self.match_count += 1
        pattern = self._miner.add(event.message)
        group = self._groups.get(id(pattern))
        if group is None:
            self._groups[id(pattern)] = _Group(pattern, event, event)
        elif event.timestamp >= group.last.timestamp:
            group.last = event
        elif event.timestamp < group.first.timestamp:
            group.first = event
        if self._first is None or event.timestamp < self._first.timestamp:
            self._first = event
        if self._last is None or event.timestamp >= self._last.timestamp:
            self._last = event
        if event.level != self._level:
            self._level = event.level
            if len(self._changes) < _KEPT_CHANGES:
                self._changes.append(event)

    def raw(self) -> JsonObject:
        """Patterns, most frequent first, and events, in order of time, as the tool's raw response keeps them."""
        groups = sorted(self._groups.values(), key=_by_count)
        return {
            "match_count": self.match_count,
            "pattern_count": len(groups),
            "patterns": [
                {
                    "count": group.pattern.count,
                    "first_seen": stamp(group.first.timestamp),
                    "last_seen": stamp(group.last.timestamp),
                    "level": group.first.level,
                    "service": group.first.service,
                    "example": group.first.message[:KEPT_CHARACTERS],
                }
                for group in groups[:KEPT_PATTERNS]
            ],
            # In order of worth, so that a smaller projection keeps the most telling ones.
            "events": [
                {
                    "timestamp": stamp(event.timestamp),
                    "level": event.level,
                    "service": event.service,
                    "message": event.message[:KEPT_CHARACTERS],
                    "whole": len(event.message) <= KEPT_CHARACTERS,
                }
                for event in self._sample(groups)
            ],
        }

    def _sample(self, groups: list[_Group]) -> list[LogEvent]:
        chosen: dict[int, LogEvent] = {}
        for event in self._by_worth(groups):
            chosen.setdefault(id(event), event)
            if len(chosen) == KEPT_EVENTS:
                break
        return list(chosen.values())

    def _by_worth(self, groups: list[_Group]) -> Iterator[LogEvent]:
        if self._first is not None and self._last is not None:
            yield self._first
            yield self._last
        rare = sorted(
            groups, key=lambda group: (-_severity(group.first) if group.pattern.count < 3 else 0, group.pattern.count)
        )
        for group in rare:
            yield group.first
        yield from sorted(self._changes, key=lambda event: -_severity(event))
        for group in groups:
            yield group.last


def stamp(at: datetime) -> str:
    """ISO 8601 with zone, to the millisecond."""
    return at.isoformat(timespec="milliseconds")


def _by_count(group: _Group) -> tuple[int, datetime, str]:
    return -group.pattern.count, group.first.timestamp, group.first.message


def _severity(event: LogEvent) -> int:
    return _SEVERITY.get(event.level, 3)
