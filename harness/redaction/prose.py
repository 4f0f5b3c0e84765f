"""Secrets that a sentence names: `the password is Tq7!mZp2`, `token "…" rejected`."""

import re
from collections.abc import Iterator

from harness.redaction.labels import label_of
from harness.redaction.plausible import is_code, is_mixed, is_placeholder, looks_secret
from harness.redaction.spans import Kind, Span
from harness.redaction.words import STOP_WORDS

_NAMED = re.compile(
    r"(?i)(?<![A-Za-z0-9_.\"'-])(?P<name>(?:password|passwd|pwd|passphrase|passcode"
    r"|(?:access |auth |refresh |api |bearer )?token|(?:client |app )?secret|(?:api|access|secret)[ _-]?key))\s{1,3}"
    r"(?P<verb>(?:(?:ha(?:s|ve) been|was|is|are|being|changed|set|reset|updated|rotated|now|will be|of|as)\s{1,3}){0,3}"
    r"(?:to\s{1,3}|[:=]\s{0,3})?)"
    r"(?P<quote>[\"'`“「]?)(?P<value>[^\s\"'`”」，。；<>]{4,200}+)"
)
_STRONG = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[A-Za-z])|(?=[^\s]*[A-Za-z0-9])(?=[^\s]*[!@#$%^&*~])")


_SETTING = re.compile(
    r"(?i)\b(?:config(?:ure)?|set|define|--global|--add)\s{1,3}(?:set\s{1,3})?(?P<name>[\w.-]{4,80}+)\s{1,3}[\"']?(?P<value>[^\s\"'=]{4,200}+)"
)
_CLUSTER_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")  # Kubernetes names its objects so
_COLUMN_TYPE = re.compile(r"(?i)[a-z]{3,12}\(\d")


def find_named_in_prose(text: str) -> Iterator[Span]:
    """What follows the word password, token, secret or key without a separator, if it looks like a secret."""
    for match in _NAMED.finditer(text):
        value = match["value"].rstrip(".,;:!?)]}")
        label = label_of(match["name"])
        if label is None or not value or is_placeholder(value) or value.lower() in STOP_WORDS:
            continue
        if _COLUMN_TYPE.match(value) or is_placeholder(match["value"]) or is_code(value):
            continue
        if label.kind is not Kind.PASSWORD and _CLUSTER_NAME.fullmatch(value) and "-" in value:
            continue
        if "=" in value.rstrip("=") or "://" in value or value.startswith(("(", "{", "[", "/", "-")):
            continue
        quoted = bool(match["quote"]) and (label.kind is Kind.PASSWORD or looks_secret(value))
        if quoted or _is_meant(value, label.kind):
            yield Span(match.start("value"), match.start("value") + len(value), label.kind)
    for match in _SETTING.finditer(text):
        label = label_of(match["name"])
        if label and not label.weak and is_mixed(match["value"]):
            yield Span(match.start("value"), match.end("value"), label.kind)


def _is_meant(value: str, kind: Kind) -> bool:
    if kind is Kind.PASSWORD:
        return len(value) >= 6 and bool(_STRONG.match(value)) and any(c.isalpha() for c in value) and "/" not in value
    upper, lower = any(c.isupper() for c in value), any(c.islower() for c in value)
    mixed = any(c.isdigit() for c in value) and (upper or lower)
    return len(value) >= 16 and looks_secret(value) and mixed and not value.startswith("v")
