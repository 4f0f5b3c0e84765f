"""Events: what a line says of its level, its service and its message, whatever wrote it."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

MAX_EVENT_CHARACTERS = 16_000

_LEVELS = {
    "TRACE": "TRACE",
    "FINEST": "TRACE",
    "DEBUG": "DEBUG",
    "FINE": "DEBUG",
    "INFO": "INFO",
    "INFORMATION": "INFO",
    "LOG": "INFO",
    "NOTICE": "NOTICE",
    "WARN": "WARN",
    "WARNING": "WARN",
    "ERR": "ERROR",
    "ERROR": "ERROR",
    "SEVERE": "ERROR",
    "CRIT": "FATAL",
    "CRITICAL": "FATAL",
    "ALERT": "FATAL",
    "EMERG": "FATAL",
    "FATAL": "FATAL",
    "PANIC": "FATAL",
}
_KLOG = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
_NUMBERED = {10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL"}  # bunyan and pino
_UPPER = re.compile(r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|PANIC|LOG)\b(?!\w)")
_BRACKETED = re.compile(r"\[(?:\w+:)?(trace\d?|debug|info|notice|warn|warning|error|err|crit|alert|emerg)\]", re.I)
_KEYED = re.compile(r"(?:^|[\s{,])(?:level|lvl|severity)[=:]\"?(\w+)", re.I)
_ACCESS = re.compile(r'" (\d{3}) (?:\d+|-)')
_SYSLOG_PROGRAM = re.compile(r"^\s*\S+ ([\w./-]+?)(?:\[\d+\])?: ")
_COMPONENT = re.compile(
    r"^[\s\d\[\]-]*(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\s+(?:\[[^\]]*\]\s*)*([A-Za-z][\w.$/-]*)\s*:"
)
_SPRING = re.compile(r"\[([a-z][a-z0-9]*(?:-[a-z0-9]+)+)[,\]]")
_KEYED_SERVICE = re.compile(r"(?:^|\s)(?:service|app|application|svc|component)=\"?([\w./-]+)")
_TIME_FIELDS = ("@timestamp", "timestamp", "time", "ts", "datetime", "date", "asctime", "eventTime", "t")
_LEVEL_FIELDS = ("level", "severity", "lvl", "levelname", "log.level", "loglevel", "log_level")
_MESSAGE_FIELDS = ("message", "msg", "log", "event", "text")
_SERVICE_FIELDS = (
    "service",
    "service.name",
    "serviceName",
    "app",
    "application",
    "logger",
    "logger_name",
    "name",
    "component",
)
_HEAD = 240


@dataclass(slots=True)
class LogEvent:
    """One event; `text` is everything that was written, with its continuation lines."""

    timestamp: datetime
    level: str | None
    service: str | None
    message: str
    text: str


def normal_level(word: str) -> str | None:
    """One of TRACE, DEBUG, INFO, NOTICE, WARN, ERROR, FATAL, or None for another word."""
    return _LEVELS.get(word.strip().upper())


def json_fields(line: str) -> dict[str, Any] | None:
    """The fields of a JSON line, or None."""
    if not line.startswith("{"):
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def json_time(fields: dict[str, Any]) -> object:
    """The value of the field that loggers put the time in."""
    return next((fields[name] for name in _TIME_FIELDS if name in fields), None)


def describe_json(timestamp: datetime, line: str, fields: dict[str, Any], default_service: str | None) -> LogEvent:
    level = next((fields[name] for name in _LEVEL_FIELDS if name in fields), None)
    message = next((fields[name] for name in _MESSAGE_FIELDS if isinstance(fields.get(name), str)), line)
    service: object = next((fields[name] for name in _SERVICE_FIELDS if name in fields), None)
    if isinstance(service, dict):
        service = service.get("name")
    known = normal_level(level) if isinstance(level, str) else _NUMBERED.get(level) if isinstance(level, int) else None
    return LogEvent(timestamp, known, service if isinstance(service, str) else default_service, message, line)


def describe(timestamp: datetime, line: str, body: str, klog: str | None, default_service: str | None) -> LogEvent:
    """Level and service of a text line. `body` is the line without its timestamp."""
    return LogEvent(
        timestamp, _KLOG.get(klog or "") or _level(body), _service(body) or default_service, body.strip(), line
    )


def _level(body: str) -> str | None:
    head = body[:_HEAD]
    found = _KEYED.search(head) or _BRACKETED.search(head)
    if found:
        word = found[1].rstrip("12345678")
        known = normal_level(word)
        if known:
            return known
    found = _UPPER.search(head)
    if found:
        return normal_level(found[1])
    status = _ACCESS.search(body[:2000])
    if status:
        return "ERROR" if status[1] >= "500" else "WARN" if status[1] >= "400" else "INFO"
    return None


def _service(body: str) -> str | None:
    head = body[:_HEAD]
    for pattern in (_KEYED_SERVICE, _SPRING, _SYSLOG_PROGRAM, _COMPONENT):
        found = pattern.search(head)
        if found:
            return found[1]
    return None
