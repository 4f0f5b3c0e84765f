"""The query language: words are ANDed, `"a phrase"`, `-word`, `level:ERROR`, `service:name`, `OR` between words.

Words and phrases are looked for anywhere in an event's text, inside longer words too, so that Chinese, which has no
blanks, works like English. Case is ignored.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from harness.tools.query_logs.levels import LEVELS, level_of

_QUOTES = {'"': '"', "“": "”", "„": "“", "「": "」"}
_FIELD = re.compile(r"(level|service)[:：]", re.IGNORECASE)
_HINTS = {
    "AND": "words are ANDed by themselves; leave AND out, or put it in quotation marks to look for it.",
    "NOT": "write -word to leave out lines that hold the word.",
    "&&": "words are ANDed by themselves; leave && out.",
    "||": "write OR between words.",
}


class QueryError(ValueError):
    """The query cannot be understood. The message says at which character and what to write instead."""

    def __init__(self, position: int, said: str) -> None:
        super().__init__(f"Character {position + 1}: {said}")
        self.position = position


class Kind(Enum):
    """What a term looks at."""

    TEXT = auto()
    LEVEL = auto()
    SERVICE = auto()


@dataclass(frozen=True, slots=True)
class Term:
    """One condition. `value` is in lower case for TEXT and SERVICE, a name of `LEVELS` for LEVEL."""

    kind: Kind
    value: str
    excluded: bool = False

    def holds(self, lowered: str, level: str | None, services: Iterable[str | None]) -> bool:
        """Whether an event with this text (in lower case), level and names of its service meets the condition."""
        match self.kind:
            case Kind.TEXT:
                found = self.value in lowered
            case Kind.LEVEL:
                found = level == self.value
            case Kind.SERVICE:
                found = any(_names(service, self.value) for service in services)
        return found != self.excluded

    def __str__(self) -> str:
        prefix = "" if self.kind is Kind.TEXT else f"{self.kind.name.lower()}:"
        return f'{"-" if self.excluded else ""}{prefix}"{self.value}"'


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Every group must hold; a group holds when one of its terms does."""

    groups: tuple[tuple[Term, ...], ...]

    def matches(self, text: str, level: str | None, services: Iterable[str | None]) -> bool:
        lowered = text.lower()
        names = tuple(services)
        return all(any(term.holds(lowered, level, names) for term in group) for group in self.groups)

    def header_alone_refuses(self, level: str | None, services: Iterable[str | None]) -> bool:
        """Whether an event of this level and service cannot match, whatever its text."""
        names = tuple(services)
        return any(
            not any(term.holds("", level, names) for term in group)
            for group in self.groups
            if all(term.kind is not Kind.TEXT for term in group)
        )

    def is_one_text(self) -> bool:
        """Whether finding one of the `required` texts decides."""
        return len(self.groups) == 1 and bool(self.required())

    def required(self) -> tuple[str, ...]:
        """Texts of which each matching event holds at least one, the longest there are; empty when there are none."""
        choices = [
            tuple(term.value for term in group)
            for group in self.groups
            if all(term.kind is Kind.TEXT and not term.excluded for term in group)
        ]
        return max(choices, key=lambda values: min(map(len, values)), default=())

    def __str__(self) -> str:
        """The same for queries that ask the same."""
        return " ".join(sorted({" OR ".join(sorted({str(term) for term in group})) for group in self.groups}))


def parse_query(query: str) -> LogQuery:
    """Raises `QueryError`."""
    groups: list[list[Term]] = []
    pending: int | None = None  # where an OR waits for its right side
    for position, written in _tokens(query):
        if written == "OR":
            if not groups or pending is not None:
                raise QueryError(position, "OR needs a word on both sides.")
            pending = position
            continue
        term = _term(written, position)
        if pending is None:
            groups.append([term])
        else:
            groups[-1].append(term)
            pending = None
    if pending is not None:
        raise QueryError(pending, "OR needs a word on both sides.")
    if not groups:
        raise QueryError(0, "the query is empty. Give words that the lines hold, or level:ERROR.")
    return LogQuery(tuple(map(tuple, groups)))


def _tokens(query: str) -> Iterator[tuple[int, str]]:
    """Position and text of each token; blanks inside quotation marks belong to it."""
    position = 0
    while position < len(query):
        if query[position].isspace():
            position += 1
            continue
        start = position
        while position < len(query) and not query[position].isspace():
            closing = _QUOTES.get(query[position]) if _may_open(query[start:position]) else None
            if closing is None:
                position += 1
                continue
            end = query.find(closing, position + 1)
            if end < 0:
                raise QueryError(position, "the quotation mark is not closed.")
            position = end + 1
            if position < len(query) and not query[position].isspace():
                raise QueryError(position, "leave a blank behind the quotation mark.")
        yield start, query[start:position]


def _may_open(before: str) -> bool:
    """A quotation mark opens a phrase at the begin of a term; inside a word, as in `user="bob"`, it is text."""
    rest = before.removeprefix("-")
    return not rest or _FIELD.fullmatch(rest) is not None


def _term(token: str, position: int) -> Term:
    excluded = token.startswith("-") and token.strip("-") != ""
    rest = token[1:] if excluded else token
    field = _FIELD.match(rest)
    value = rest[field.end() :] if field is not None else rest
    start = position + len(token) - len(value)
    quoted = value[:1] in _QUOTES and len(value) > 1
    if quoted:
        value = value[1:-1].strip()
        if not value:
            raise QueryError(start, "the phrase is empty.")
    else:
        _refuse_unquoted(token, value, position, start)
    if field is None:
        return Term(Kind.TEXT, value.lower(), excluded)
    if field[1].lower() == "service":
        return Term(Kind.SERVICE, value.lower(), excluded)
    level = level_of(value) if value.isalpha() and len(value) > 1 else None
    if level is None:
        raise QueryError(start, f"level takes one of {', '.join(LEVELS)}; write OR between several.")
    return Term(Kind.LEVEL, level, excluded)


def _refuse_unquoted(token: str, value: str, position: int, start: int) -> None:
    if not value:
        raise QueryError(start, "a value is missing behind the colon, such as level:ERROR or service:orders.")
    if token in _HINTS:
        raise QueryError(position, _HINTS[token])
    if (value.startswith("(") and ")" not in value) or (value.endswith(")") and "(" not in value):
        said = "there are no brackets: OR binds its neighbours, all else is ANDed. Quote a bracket to look for it."
        raise QueryError(start if value.startswith("(") else start + len(value) - 1, said)


_BORDER = re.compile(r"[^0-9a-z\u3400-\u9fff]")


def _names(name: str | None, wanted: str) -> bool:
    """Whether `wanted` is the name or a whole part of it: `orders` is `shop.orders` and `orders-2`, not `reorders`."""
    if name is None:
        return False
    lowered = name.lower()
    start = lowered.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before = start == 0 or _BORDER.match(lowered[start - 1]) or _BORDER.match(wanted[0])
        after = end == len(lowered) or _BORDER.match(lowered[end]) or _BORDER.match(wanted[-1])
        if before and after:
            return True
        start = lowered.find(wanted, start + 1)
    return False
