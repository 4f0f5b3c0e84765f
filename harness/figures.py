"""Figures: the numbers, quotations and identifiers of an analysis, looked for in the evidence that it cites.

A measure of how far a text stays with its evidence; it becomes a gate only by `evidence_guard.require_figures`.
Source: 04-diagnosis, "EvidenceGuard".
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from harness.redaction import redact_text
from harness.redaction.words import words

MAX_FIGURE = 60
_QUOTED = re.compile(
    r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|「([^」\n]{1,200})」|『([^』\n]{1,200})』"
    r"|(?<![A-Za-z0-9])'([^'\n]{1,200})'(?![A-Za-z0-9])"
)
_TIME = re.compile(  # dates and times are looked for as they are written: 12:30 is no 12 and no 30
    r"\d{4}[-/]\d{2}[-/]\d{2}|(?<![\d:.])\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?![\d:])", re.ASCII
)
_ZONE = re.compile(r"(?<=\d)(?:[+-]\d{2}:?\d{2}|Z)\b", re.ASCII)
_GROUPED = re.compile(r"(?<![A-Za-z0-9.,_-])\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9]+(?:[_.:/@#-]+[A-Za-z0-9]+)*", re.ASCII)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?", re.ASCII)
_UNIT = re.compile(r"\s?([万亿])")
_NUMBER_WITH_UNIT = re.compile(r"[\d.,:/x-]+(?:[a-z]{1,3}|[KMGT]i?B?|MiB|GiB|QPS|TPS|th|nd|rd|st)?", re.ASCII)
_MULTIPLES = {"万": 10_000, "亿": 100_000_000}
_ENGLISH_PARTS = words(
    "non re pre post self long short read write high low time real end on off up down multi single follow step well so "
    "co cross in out over under per day cut to by only running term level related based side free like wide aware up "
    "and or of the a an is not as built full half first last second third one two three human root back front pool "
    "near far large small mid anti auto check sub super semi hot cold open closed known new old"
)


@dataclass(frozen=True, slots=True)
class Figures:
    """How many figures the analyses name, how many of them the cited evidence holds, and the missing ones."""

    total: int = 0
    found: int = 0
    missing: list[str] = field(default_factory=list)


class Evidence:
    """What one `agent_result` holds, ready to be searched."""

    def __init__(self, agent_result: dict[str, Any]) -> None:
        self._text = _plain("\n".join(_leaves(agent_result)))
        self._numbers = {value for _, value in _numbers(_without_times(self._text))} | set(_durations(agent_result))

    def holds(self, name: str, value: Decimal | None) -> bool:
        return value in self._numbers if value is not None else _plain(name) in self._text


def missing_figures(text: str, evidence: Sequence[Evidence]) -> tuple[int, list[str]]:
    """How many distinct figures `text` has, and those of them that no evidence holds."""
    figures = dict.fromkeys(_figures(_normal(text)))
    missing = [name for name, value in figures if not any(each.holds(name, value) for each in evidence)]
    return len(figures), [redact_text(name)[:MAX_FIGURE] for name in missing]


def _figures(text: str) -> Iterator[tuple[str, Decimal | None]]:
    """Each figure with its value if it is a number; what is quoted counts as a whole."""
    for match in _QUOTED.finditer(text):
        quoted = next(group for group in match.groups() if group).strip()
        if quoted:
            yield quoted, None
    rest = _QUOTED.sub(" ", text)
    for match in _TIME.finditer(rest):
        yield match[0], None
    rest = _without_times(rest)
    for match in _GROUPED.finditer(rest):
        yield from _numbers(match[0] + rest[match.end() : match.end() + 2])
    rest = _GROUPED.sub(" ", rest)
    for word in _WORD.finditer(rest):
        if _is_identifier(word[0]):
            yield word[0], None
            continue
        for name, value in _numbers(word[0] + rest[word.end() : word.end() + 2]):
            if sum(c.isdigit() for c in name) >= 2:
                yield name, value


def _without_times(text: str) -> str:
    return _TIME.sub(" ", _ZONE.sub(" ", text))


def _is_identifier(word: str) -> bool:
    if _NUMBER_WITH_UNIT.fullmatch(word):
        return word.count(".") >= 2  # an address or a version is looked for as it is written
    letters = any(c.isalpha() for c in word)
    if letters and any(c.isdigit() for c in word):
        return len(word) >= 4
    if "_" in word:
        return True
    if "-" in word:
        return not any(part.lower() in _ENGLISH_PARTS for part in word.split("-"))
    return letters and ("." in word or ":" in word) and len(word) >= 4 and "/" not in word


def _numbers(text: str) -> Iterator[tuple[str, Decimal]]:
    for match in _NUMBER.finditer(text):
        if len(match[0]) > 40:
            continue
        value = Decimal(match[0].replace(",", ""))
        unit = _UNIT.match(text, match.end())
        yield match[0], (value * _MULTIPLES[unit[1]] if unit else value).normalize()


def _leaves(value: object) -> list[str]:
    """All strings, numbers and keys of a result."""
    texts: list[str] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            texts += [str(key) for key in item]
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif item is not None:
            texts.append(str(item))
    return texts


def _durations(result: dict[str, Any]) -> Iterator[Decimal]:
    """The length of a log query's window, which texts name in minutes or hours."""
    scope = result.get("scope")
    if not isinstance(scope, dict):
        return
    try:
        start, end = (datetime.fromisoformat(str(scope[key])) for key in ("start_time", "end_time"))
        minutes = round((end - start).total_seconds() / 60)
    except (KeyError, ValueError, TypeError):  # not a log result, or times with and without zone
        return
    yield Decimal(minutes).normalize()
    yield (Decimal(minutes) / 60).normalize()


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _plain(text: str) -> str:
    return " ".join(_normal(text).casefold().split())
