"""Passwords in URLs and connection strings: `scheme://user:password@host`, `user:password@tcp(host)`."""

import re
from collections.abc import Iterator

from harness.redaction.plausible import is_placeholder, looks_secret
from harness.redaction.spans import Kind, Span

_SCHEME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.\-]{1,40}:(?:\\?/){2}")
_TOKEN = re.compile(r"[^\s\"'<>`，。；）】]++")
_USER = re.compile(r"[^\s:/@?#\[\]]{0,200}+:")
_PORT = re.compile(r"\d{1,5}(?=[/?#,;)\]}]|$)")
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]++|\[[0-9A-Fa-f:.]+\]|[A-Za-z]{2,6}\()(?::\d{1,5})?(?=[/?#,;)\]}:\\]|$|[^\w@])")
_GO_DSN = re.compile(r"(?<![\w/:])([\w.%+-]{1,64}):([^\s@/]{1,200})@(?:tcp|tcp6|udp|unix|cloudsql)\(")
_BARE = re.compile(
    r"(?<![\w/:@.-])([A-Za-z_][\w.+-]{0,63}):([^\s:@/\"'<>,;]{4,100})@((?!sha\d)[A-Za-z0-9][\w.-]{1,100}):\d{2,5}(?!\w)"
)
_ORACLE = re.compile(
    r"(?i)(?:jdbc:oracle:(?:thin|oci):|\bsqlplus\s(?:-\w+\s){0,3}"
    r"|\b(?:conn(?:ect)?|exp|imp|expdp|impdp|sqlldr)\s(?:userid=)?)([\w$#]{1,64})/(\"[^\"\n]{1,100}\"|[^\s/\"]{1,100})@"
)
_PGPASS = re.compile(r"(?m)^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s:]{1,200})$")


def find_url_passwords(text: str) -> Iterator[Span]:
    """Passwords before an `@`; an `@`, `/`, `#` or `?` within the password is taken along."""
    if "@" in text:
        yield from _urls(text)
        for pattern in (_GO_DSN, _BARE, _ORACLE):
            for match in pattern.finditer(text):
                if not is_placeholder(match[2]) and not (pattern is _BARE and match[2].isalpha()):
                    yield Span(match.start(2), match.end(2), Kind.PASSWORD)
    for match in _PGPASS.finditer(text):
        yield Span(match.start(1), match.end(1), Kind.PASSWORD)


def _urls(text: str) -> Iterator[Span]:
    schemes = list(_SCHEME.finditer(text))
    for index, scheme in enumerate(schemes):
        next_start = schemes[index + 1].start() if index + 1 < len(schemes) else len(text)
        token = _TOKEN.match(text, scheme.end(), next_start)
        span = _password(text, scheme, token.end()) if token else None
        if span:
            yield span


def _password(text: str, scheme: re.Match[str], limit: int) -> Span | None:
    start = scheme.end()
    user = _USER.match(text, start, limit)
    http = scheme[0].lower().startswith("http")
    if user is None:
        return _lone_user(text, start, limit) if http else None
    if _PORT.match(text, user.end(), limit) and not scheme[0].startswith(
        ("redis", "mysql", "amqp", "mongodb", "postgres")
    ):
        return None
    end = _at_sign(text, user.end(), limit, http=http)
    if end < 0:
        return None
    value = text[user.end() : end]
    return None if not value or is_placeholder(value) else Span(user.end(), end, Kind.PASSWORD)


def _at_sign(text: str, start: int, limit: int, *, http: bool) -> int:
    """The `@` that ends the password, or -1.

    In a web address the path and query may hold addresses with `@` of their own, so the first part that
    has one decides; in other URLs the password may hold anything, so the last `@` before a host does.
    """
    ends = [limit]
    for separator in ("?", "#", "/") if http else ("?",):
        found = text.find(separator, start, limit)
        if found >= 0:
            ends.append(found)
    for end in sorted(ends):
        at = text.rfind("@", start, end)
        while at >= 0:
            if _HOST.match(text, at + 1, limit):
                return at
            at = text.rfind("@", start, at)
    return -1


def _lone_user(text: str, start: int, limit: int) -> Span | None:
    """`https://TOKEN@host`: a user without a password that looks like a token."""
    at = text.find("@", start, min(limit, start + 300))
    value = text[start:at] if at > 0 else ""
    if len(value) >= 16 and "/" not in value and looks_secret(value):
        return Span(start, at, Kind.TOKEN)
    return None
