"""What the text of an event says of its level, its service and its message, whatever wrote it."""

import json
import re
from typing import Any, NamedTuple

from harness.tools.query_logs.formats import Layout, Stamp
from harness.tools.query_logs.header import SEVERITY_FIRST, read_header
from harness.tools.query_logs.levels import level_of, level_of_status

_LEVEL_FIELDS = (
    "level", "severity", "lvl", "levelname", "log.level", "loglevel", "log_level", "error_severity", "@l", "PRIORITY",
    "s",
)  # fmt: skip
_SERVICE_FIELDS = (
    "service", "service.name", "service_name", "serviceName", "app", "application", "app_name", "SYSLOG_IDENTIFIER",
)  # fmt: skip
_LOGGER_FIELDS = ("logger", "logger_name", "loggerName", "log.logger", "component", "module", "name", "source", "c")
_MESSAGE_FIELDS = ("message", "msg", "log", "event", "text", "MESSAGE", "body", "short_message", "@m")
_PLAIN_FIELDS = {
    *_LEVEL_FIELDS, *_SERVICE_FIELDS, *_LOGGER_FIELDS, *_MESSAGE_FIELDS, "@timestamp", "@version", "timestamp", "time",
    "ts", "datetime", "date", "asctime", "t", "thread", "thread_name", "pid", "host", "hostname", "caller", "v",
    "level_value", "stream", "traceId", "spanId", "trace_id", "span_id", "id", "ctx", "filename", "lineno",
}  # fmt: skip
_INNER_TIME = re.compile(r"\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]{8,18}\S*")
_LOGFMT_MESSAGE = re.compile(r"(?:^|\s)(?:msg|message)=(?:\"((?:[^\"\\]|\\.)*)\"|(\S+))")


class Description(NamedTuple):
    """What a text says of itself; `message` is a slice of the text or the value of a field in it.

    `subject` is what patterns are made from: the message without the fields beside it.
    """

    level: str | None
    service: str | None
    message: str
    subject: str


def describe(text: str, stamp: Stamp | None) -> Description:
    """Of one event's text, whose first line carries its time at `stamp` (positions in UTF-8 bytes)."""
    if text.startswith("{"):
        return _describe_json(text)
    if stamp is None:
        header = read_header(text, 0, 0, Layout.PLAIN)
    else:
        start, end = _characters(text, stamp)
        header = read_header(text, start, end, stamp.layout)
    level = header.level
    if stamp is not None and stamp.layout is Layout.TWO_LINES and "\n" in text:
        second = SEVERITY_FIRST.match(text, text.index("\n") + 1)
        level = level_of(second["level"]) if second is not None else level
    logfmt = _LOGFMT_MESSAGE.search(text)
    message = text if logfmt is not None else text[header.end :]
    subject = message if logfmt is None else logfmt[1] if logfmt[1] is not None else logfmt[2]
    return Description(level, header.service, message.strip(), subject)


def _characters(text: str, stamp: Stamp) -> tuple[int, int]:
    if text[: stamp.end].isascii():
        return stamp.start, stamp.end
    line = text.encode("utf-8", "replace")
    return len(line[: stamp.start].decode("utf-8", "replace")), len(line[: stamp.end].decode("utf-8", "replace"))


def _json_fields(text: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _describe_json(text: str) -> Description:
    line, _, more = text.partition("\n")
    fields = _json_fields(line)
    if fields is None:
        return Description(None, None, text, text)
    level = _json_level(fields)
    service = _named(fields, _SERVICE_FIELDS) or _named(fields, _LOGGER_FIELDS)
    message = next((fields[name] for name in _MESSAGE_FIELDS if isinstance(fields.get(name), str)), None)
    if message is None:
        return Description(level, service, text, text)
    subject = message
    if "stream" in fields:  # a container's output, whose own line stands inside
        time = _INNER_TIME.match(message)
        inner = read_header(message, 0, 0 if time is None else time.end(), Layout.PLAIN)
        level, service, subject = level or inner.level, service or inner.service, message[inner.end :]
    # The message alone is easier to read; where other fields say more (an error, a status), the whole line counts.
    whole = more or any(name not in _PLAIN_FIELDS and fields[name] not in (None, "") for name in fields)
    return Description(level, service, text if whole else message.strip(), subject)


def _json_level(fields: dict[str, Any]) -> str | None:
    nested = fields.get("log")
    values = [fields.get(name) for name in _LEVEL_FIELDS]
    if isinstance(nested, dict):
        values.append(nested.get("level"))
    known = next((level for level in map(level_of, values) if level is not None), None)
    status = str(fields.get("status"))
    if known is None and len(status) == 3 and status.isascii() and status.isdigit():
        return level_of_status(int(status))
    return known


def _named(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, dict):
            value = value.get("name")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None
