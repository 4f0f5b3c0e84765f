"""The header of a text line: what stands between its time and its message, read for level and service.

Writers order thread, process, level and logger as they like, so the header is eaten word by word as long as each
word can only be header. What is in doubt belongs to the message.
"""

import re
from typing import NamedTuple

from harness.tools.query_logs.formats import Layout
from harness.tools.query_logs.levels import LEVEL_WORD, STRONG_WORD, level_of, level_of_status

HEAD = 400
"""Level and service stand this early or not at all (characters)."""


class Header(NamedTuple):
    """`end` is where the message begins."""

    level: str | None
    service: str | None
    end: int


_SPACE = re.compile(r"[\s|,;]+|-{1,3}(?=\s)|#\d+\](?=\s)|:(?=\s)|\](?=[\s\[])|[A-Z]{3,4}(?= \[\d)")
_SIGN = re.compile(r"\s*(?:-{1,3}|:|\|)(?=\s)")
_LEVEL = re.compile(
    rf"[\[(<]?(?:(?:{LEVEL_WORD})(?=[\s\])>|,:/-]|$)|(?i:{LEVEL_WORD})(?=[\])>|:]|\s\s|\s-\s|,\s))[\])>]?:?"
)
_TITLE_LEVEL = re.compile(rf"(?i:{LEVEL_WORD})(?=\s)")
_NUMBER = re.compile(r"\d{1,10}(?:#\d+)?(?=\s+---|[\s|,:\]]|$)")
_BRACKET = re.compile(
    r"\[[^\[\]]{0,200}(?:\[[^\[\]]{0,80}\][^\[\]]{0,80}){0,3}\]|\((?:pid|thread|tid)[^()]{0,40}\)", re.I
)
_NAME = r"[A-Za-z_][\w$]*(?:[./@$-][\w$<>]+)*"
_LOGGER = re.compile(
    rf"(?P<name>{_NAME})(?P<more>\([\w.:-]*\))?(?P<pid>\[\w{{1,12}}\])?(?::\d{{1,5}})?(?:\s*(?P<colon>:)(?=\s|$)|(?=\s+[-|]\s|\s+\[|\|))"
)
_CLASS = re.compile(r"(?P<name>[a-z]\w*(?:\.[\w$]+){2,})(?=\s)")
_BEFORE_LEVEL = re.compile(rf"(?P<name>[\w./$@-]+)(?=\s+(?:-\s+)?(?:{STRONG_WORD})(?:\s|:\s))")
_QUALIFIED = re.compile(r".*(?:[./$@_-]|[a-z0-9][A-Z])")
_COLUMN = re.compile(r"(?P<name>[A-Za-z][\w.$-]*)(?=\s\s|\t)")
_PROGRAM = re.compile(r"\s*(?:[^\s\"'=]+\s+){0,8}?(?P<name>[\w./@-]+(?:\([\w.-]*\))?)\[\d+\]:(?=\s|$)")
_SYSLOG = re.compile(r"\s*(?P<host>\S+)\s+(?P<name>[\w./@-]+)(?P<more>\([\w.:-]*\))?(?:\[\d*\])?:(?=\s|$)")
_RFC5424 = re.compile(r"\s*\S+\s+(?P<name>\S+)\s+\S+\s+\S+\s+(?:-|(?:\[[^\]]*\])+)\s*")
_LETTER = re.compile(r"\s+(?P<level>[DIWEF])[1-5]? +(?P<name>[A-Z][A-Z_]+) +")
_LEVEL_COLUMN = re.compile(rf"\s*(?:[^\sa-z]\S*\s+){{1,8}}?(?P<level>{STRONG_WORD})\s+")
_PIPES = re.compile(r"\s*\|(?:[^|\s]{0,60}\|){1,6}")
_KLOG = re.compile(r"\s*\d+\s+(?P<name>[\w.-]+):\d+\]")
_LOGCAT = re.compile(r"\s*:?\s*(?:\d+\s+\d+\s+)?(?P<level>[VDIWEFA])[\s/](?P<name>[^:(\n]{1,60}?)\s*(?:\(\s*\d+\))?:")
_PYTHON = re.compile(rf"(?P<level>{STRONG_WORD}):(?P<name>[\w.]+):")
SEVERITY_FIRST = re.compile(rf"\s*[\[(<]?(?P<level>(?i:{LEVEL_WORD}))(?:\[\d+\])?[\])>]?\s*:")
_ACCESS_STATUS = re.compile(r"\"\s(?P<status>[1-5]\d\d)\s")
_KEYED_LEVEL = re.compile(r"(?:^|[\s,|{\[])(?:level|lvl|severity|loglevel)[=:]\s?\"?(\w+)", re.I)
_KEYED_SERVICE = re.compile(
    r"(?:^|[\s,|{\[])(?:service|service\.name|service_name|app|application|svc|component)[=:]\s?\"?([\w.@/-]+)", re.I
)
_SERVICE_BRACKET = re.compile(r"\[\s*(?P<name>[a-z][a-z0-9]*(?:[-_][a-z0-9]+|\.\w+)*)(?:\s*\]|,)")
_NO_SERVICE = re.compile(
    r"(?:main|core|error|info|notice|warn|warning|debug|pid|tid|client|preauth|null)$"
    r"|.*(?:thread|exec|pool|worker|scheduling|executor|nio|async|timer|\btask)"
)


def read_header(line: str, stamp_start: int, stamp_end: int, layout: Layout) -> Header:
    """Level, service and the begin of the message of one line whose time stands at the given characters."""
    keyed = _KEYED_LEVEL.search(line, 0, HEAD) if "l" in line[:HEAD] else None
    service = _KEYED_SERVICE.search(line, 0, HEAD)
    found = _by_layout(line, stamp_start, stamp_end, layout)
    level = (level_of(keyed[1]) if keyed is not None else None) or found.level
    return Header(level, service[1] if service is not None else found.service, found.end)


def _by_layout(line: str, stamp_start: int, stamp_end: int, layout: Layout) -> Header:
    match layout:
        case Layout.ACCESS:
            status = _ACCESS_STATUS.search(line)
            return Header(level_of_status(int(status["status"])) if status else None, None, 0)
        case Layout.KLOG:
            found = _KLOG.match(line, stamp_end)
            level = level_of(line[stamp_start - 1])
            return Header(level, None, stamp_end) if found is None else Header(level, found["name"], found.end())
        case Layout.LOGCAT:
            found = _LOGCAT.match(line, stamp_end)
            if found is not None:
                return Header(level_of(found["level"]), found["name"].strip(), found.end())
        case Layout.SLOW_QUERY:
            return Header("WARN", None, 0)
        case Layout.SYSLOG:
            found = (
                _RFC5424 if line.startswith("<") and line[stamp_start - 2 : stamp_start] == "1 " else _SYSLOG
            ).match(line, stamp_end)
            if found is not None:
                return _after(line, found.end(), found["name"])
        case _:
            pass
    return _words(line, stamp_start, stamp_end)


def _after(line: str, end: int, service: str | None) -> Header:
    """Behind the program only a level in front of the message is left; it stays part of the message."""
    first = SEVERITY_FIRST.match(line, end)
    return Header(level_of(first["level"]) if first is not None else None, service, end)


def _words(line: str, stamp_start: int, stamp_end: int) -> Header:
    """Any other header, word by word."""
    front = line[:stamp_start].strip(" [-|")
    level = level_of(front) if front.isascii() and front[:1].isalpha() else None
    service: str | None = None
    position = end = stamp_end
    pipes = _PIPES.match(line, position)
    if pipes is not None:
        names = [part for part in pipes[0].split("|") if part and not part.isdigit()]
        levels = [found for found in map(level_of, names) if found is not None]
        others = [name for name in names if level_of(name) is None]
        return Header(levels[0] if levels else None, others[0] if others else None, pipes.end())
    program = _PROGRAM.match(line, position, position + HEAD)
    if program is not None:
        return _after(line, program.end(), program["name"])
    letter = _LETTER.match(line, position)
    if letter is not None:
        return Header(level_of(letter["level"]), letter["name"], letter.end())
    column = _LEVEL_COLUMN.match(line, position)
    if column is not None and level is None and not _BRACKET.match(line[position:].lstrip()):
        level = level_of(column["level"])
        position = end = column.end()
    while position < len(line) and position - stamp_end < HEAD:
        space = _SPACE.match(line, position)
        if space is not None:
            position = space.end()
            continue
        found = _LEVEL.match(line, position) if level is None else None
        if found is None and level is None and position - stamp_end <= 3:
            found = _TITLE_LEVEL.match(line, position)
        if found is not None:
            python = _PYTHON.match(line, position)
            if python is not None:
                return Header(level_of(python["level"]), python["name"], python.end())
            level = level_of(found[0].strip("[](<>): "))
            position = end = found.end()
            continue
        number = _NUMBER.match(line, position)
        if number is not None and (service is None or line.startswith("---", number.end() + 1)):
            position = number.end()
            continue
        bracket = _BRACKET.match(line, position)
        if bracket is not None:
            inner = bracket[0][1:-1]
            if inner.startswith("client "):  # who called is part of what happened
                break
            if level is None:
                level = level_of(inner) or level_of(inner.rpartition(":")[2])
            named = _SERVICE_BRACKET.match(bracket[0])
            if service is None and named is not None and not _NO_SERVICE.match(named["name"]):
                service = named["name"]
            position = end = bracket.end()
            continue
        logger = _LOGGER.match(line, position) if service is None or level is not None else None
        if logger is not None and _is_logger(logger, level):
            if level is None and (said := _LEVEL.match(logger["name"] + ":")) is not None:
                level = level_of(said[0].strip(":"))
            service = service or logger["name"]
            position = end = logger.end()
            if logger["colon"]:
                break
            continue
        if service is None:
            plain = _CLASS.match(line, position) if level is not None else _BEFORE_LEVEL.match(line, position)
            if plain is not None:
                service = None if "@" in plain["name"] else plain["name"]
                position = end = plain.end()
                continue
        aligned = _COLUMN.match(line, position) if level is not None and service is None else None
        if aligned is not None and line[position - 2 : position].isspace():
            service = aligned["name"]
            position = end = aligned.end()
        break
    if level is None:
        first = SEVERITY_FIRST.match(line, end)
        level = level_of(first["level"]) if first is not None else None
    sign = _SIGN.match(line, end) if end > stamp_end else None
    return Header(level, service, end if sign is None else sign.end())


def _is_logger(found: re.Match[str], level: str | None) -> bool:
    """A word with a colon may as well open the message; a qualified name, or one with a process id, does not."""
    if found["pid"] or found["more"]:
        return True
    qualified = _QUALIFIED.match(found["name"]) is not None
    return qualified if found["colon"] else qualified or level is not None
