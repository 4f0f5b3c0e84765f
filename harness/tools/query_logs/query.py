"""The query language: words are ANDed, `"a phrase"`, `-word`, `level:ERROR`, `service:name`, `OR` between words."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from harness.tools.query_logs.events import LogEvent, normal_level

_TOKEN = re.compile(r'\s*(?P<minus>-)?(?:(?P<field>level|service):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))', re.I)

Test = Callable[[LogEvent, str], bool]


class QueryError(ValueError):
    """The query cannot be understood. The message says where and how to write it."""


@dataclass(frozen=True, slots=True)
class LogQuery:
    """A parsed query: every group must hold, a group holds when one of its tests does."""

    groups: tuple[tuple[Test, ...], ...]

    def matches(self, event: LogEvent) -> bool:
        text = event.text.casefold()
        return all(any(test(event, text) for test in group) for group in self.groups)


def parse_query(query: str) -> LogQuery:
    """Raises `QueryError`."""
    groups: list[list[Test]] = []
    joins = False
    position = 0
    end = len(query.rstrip())
    while position < end:
        match = _TOKEN.match(query, position)
        if match is None:
            raise QueryError(f"Character {position + 1}: a quotation mark is not closed.")
        start = position + len(match.group()) - len(match.group().lstrip()) + 1
        position = match.end()
        if match["word"] == "OR" and not match["minus"] and not match["field"]:
            if not groups or joins:
                raise QueryError(f"Character {start}: OR needs a word on both sides.")
            joins = True
            continue
        if joins:
            groups[-1].append(_test(match, start))
        else:
            groups.append([_test(match, start)])
        joins = False
    if joins:
        raise QueryError(f"Character {end}: OR needs a word on both sides.")
    if not groups:
        raise QueryError("The query is empty. Give words that the lines hold.")
    return LogQuery(tuple(tuple(group) for group in groups))


def _test(match: re.Match[str], start: int) -> Test:
    value = match["phrase"] if match["phrase"] is not None else match["word"]
    if not value.strip():
        raise QueryError(f"Character {start}: the phrase is empty.")
    test = _positive(match["field"], value, start)
    if match["minus"]:
        return lambda event, text: not test(event, text)
    return test


def _positive(field: str | None, value: str, start: int) -> Test:
    wanted = value.casefold()
    if field is None:
        return lambda event, text: wanted in text
    if field.lower() == "service":
        return lambda event, text: event.service is not None and wanted in event.service.casefold()
    level = normal_level(value)
    if level is None:
        raise QueryError(f"Character {start}: level takes TRACE, DEBUG, INFO, NOTICE, WARN, ERROR or FATAL.")
    return lambda event, text: event.level == level
