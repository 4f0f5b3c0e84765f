"""HTTP credentials: Authorization, Bearer, Basic, cookies."""

import base64
import binascii
import re
from collections.abc import Iterator

from harness.redaction.labels import label_of
from harness.redaction.plausible import is_placeholder, looks_secret
from harness.redaction.spans import Kind, Span
from harness.redaction.values import QUOTE, read_quoted
from harness.redaction.words import STOP_WORDS, words

_HINT = re.compile(r"(?i)auth|bearer|basic|cookie|digest")
_AUTHORIZATION = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:proxy-|x-forwarded-|http_)?authorization(?:\\*[\"'`]|&quot;)?\]?\s{0,4}(?:=>|[:=：,]|%3[AaDd]|(?=[\"'\[]))\s{0,4}\[?"
    r"(?P<quote>(?:\\*[\"'`]|&quot;)?)\s?"
)
_NEXT_HEADER = re.compile(r"(?i)\n|authorization")
_SCHEME = re.compile(
    r"(?i)(?P<scheme>bearer|basic|token|apikey|api-key|key|jwt|oauth|negotiate|ntlm|digest|hmac|hawk|mac|aws|acs|signature|aws4-hmac-sha256|[a-z]{2,12}-hmac-sha\d{1,3}|tc3-hmac-sha256)(?:\s{1,3}|\+|%20)"
)
_TOKEN = re.compile(r"[^\s\"'`,;<>|\\&)\]}，。；）]++")
_DIGEST_PART = re.compile(
    r"(?i)(?:response|signature|cnonce|nonce|mac|credential|oauth_\w+)\s?=\s?\\?[\"']?([^\s\"',;\\]++)"
)
_BEARER = re.compile(
    r"(?i)(?<![A-Za-z0-9])bearer(?:\s{1,3}|%20|\+|[:=]\s?)\\?[\"']?([A-Za-z0-9._~+/-]{8,}+=*+)(?![A-Za-z0-9=])"
)
_BASIC = re.compile(r"(?i)(?<![A-Za-z0-9])basic(?:\s{1,3}|%20|\+)\\?[\"']?([A-Za-z0-9+/_-]{6,}+={0,2})")
_AUTH_FIELD = re.compile(r"(?i)[\"'](?:_?auth|identitytoken)\\*[\"']\s{0,4}:\s{0,4}\\*[\"']([A-Za-z0-9+/]{8,}+={0,2})")
_COOKIES = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:set-)?cookies?2?(?:\\*[\"'`]|&quot;)?\]?\s{0,4}(?:=>|[:=：,])\s{0,4}(?P<list>\[?)"
)
_COOKIE_PAIR = re.compile(
    r"\s{0,4}(?P<name>[^\s=;,\"'\\:\[\]{}()<>]{1,100}+)=(?P<value>\\?\"[^\"\n\\]*+\\?\"|[^\s;,\"'\\\])}]*+)"
)
_NEXT_PAIR = re.compile(r";\s{0,4}(?:[A-Za-z-]{1,20}(?=[;\"'\s\\]|$))?")
_PLAIN_COOKIES = words(
    "path expires domain max-age samesite secure httponly version priority theme lang language locale currency "
    "timezone tz region country path comment"
)
_SECRET_COOKIE = re.compile(
    r"(?i)sess|^sid$|\.sid$|[_-]sid|ssid|hsid|token|auth|jwt|csrf|xsrf|remember|ticket|login|passport|secret|pass|pwd|key|^st$|uid_tt|sso|identity"
)
_MAX_PAIRS = 400


def find_http_credentials(text: str) -> Iterator[Span]:
    """The credentials of Authorization and Cookie headers, and Bearer and Basic credentials anywhere."""
    if not _HINT.search(text):
        return
    for header in _AUTHORIZATION.finditer(text):
        yield from _authorization(text, header)
    for match in _BEARER.finditer(text):
        if _is_token(match[1]):
            yield Span(match.start(1), match.end(1), Kind.BEARER)
    for pattern in (_BASIC, _AUTH_FIELD):
        for match in pattern.finditer(text):
            if _is_basic(match[1]):
                yield Span(match.start(1), match.end(1), Kind.BASIC)
    position = 0
    while cookies := _COOKIES.search(text, position):
        position = cookies.end()
        for span, end in _cookies(text, cookies):
            position = max(position, end)
            if span:
                yield span


def _authorization(text: str, match: re.Match[str]) -> Iterator[Span]:
    scheme = _SCHEME.match(text, match.end())
    name = scheme["scheme"].lower() if scheme else ""
    if "=" in text[match.end() : match.end() + 120] and (
        name == "digest" or "hmac" in name or name in {"oauth", "hawk", "mac", "signature"}
    ):
        end = _NEXT_HEADER.search(text, match.end(), match.end() + 4000)
        limit = end.start() if end else match.end() + 4000
        for part in _DIGEST_PART.finditer(text, match.end(), limit):
            yield Span(part.start(1), part.end(1), Kind.TOKEN)
        return
    token = _TOKEN.match(text, scheme.end() if scheme else match.end())
    if token is None or is_placeholder(token[0]):
        return
    word = token[0].strip(".:").lower()
    if word in STOP_WORDS or (scheme is None and not looks_secret(token[0])):
        return
    if scheme and word.isalpha() and len(word) < 8 and name not in {"bearer", "basic"}:
        return
    yield Span(token.start(), token.end(), {"basic": Kind.BASIC, "bearer": Kind.BEARER}.get(name, Kind.TOKEN))


def _is_token(value: str) -> bool:
    if is_placeholder(value) or "realm=" in value:
        return False
    if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
        return True
    mixed = any(c.isupper() for c in value[1:]) and any(c.islower() for c in value)
    return len(value) >= 16 and (mixed or value.isdigit() or len(value) >= 24)


def _is_basic(value: str) -> bool:
    """Basic credentials prove themselves: they decode to `user:password`."""
    body = value.replace("-", "+").replace("_", "/").rstrip("=")[:400]
    body = body[: len(body) // 4 * 4] if len(body) % 4 == 1 else body
    try:
        decoded = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
        plain = decoded.decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in plain and plain.isprintable()


def _cookies(text: str, match: re.Match[str]) -> Iterator[tuple[Span | None, int]]:
    """The secret values among `name=value; name=value`."""
    position = match.end()
    quote = QUOTE.match(text, position)
    limit = len(text)
    if quote:
        value = read_quoted(text, quote)
        position, limit = value.start, value.end
    for _ in range(_MAX_PAIRS):
        pair = _COOKIE_PAIR.match(text, position, limit)
        if pair is None:
            return
        start, end = pair.span("value")
        content = text[start:end].strip('\\"')
        yield (Span(start, end, Kind.COOKIE) if _is_secret_cookie(pair["name"], content) else None), end
        position = end
        while position < limit and (following := _NEXT_PAIR.match(text, position, limit)):
            position = following.end()
        if position == end:
            return


def _is_secret_cookie(name: str, value: str) -> bool:
    if name.lower() in _PLAIN_COOKIES or len(value) < 4 or is_placeholder(value) or value.lower() in STOP_WORDS:
        return False
    return bool(_SECRET_COOKIE.search(name)) or label_of(name) is not None or (len(value) >= 16 and looks_secret(value))
