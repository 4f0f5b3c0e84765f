"""Secrets that are known by their own form: issued keys, JSON Web Tokens, private keys."""

import re
from collections.abc import Iterator

from harness.redaction.spans import Kind, Span

_KEYS = (
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",  # AWS access key id
    r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"AIza[A-Za-z0-9_-]{35}",  # Google API key
    r"GOCSPX-[A-Za-z0-9_-]{20,}+",
    r"ya29\.[A-Za-z0-9_-]{20,}+",
    r"1//0[A-Za-z0-9_-]{30,}+",
    r"gh[pousr]_[A-Za-z0-9]{20,}+",  # GitHub
    r"github_pat_[A-Za-z0-9_]{20,}+",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_.-]{16,}+",  # GitLab
    r"xox[a-z]-[A-Za-z0-9-]{10,}+",  # Slack
    r"xox[a-z]\.xox[a-z]-[A-Za-z0-9-]{10,}+",
    r"xapp-\d-[A-Za-z0-9-]{10,}+",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+",  # Stripe
    r"whsec_[A-Za-z0-9+/=]{16,}+",
    r"sk-(?:[a-z]{2,12}-){0,3}(?=[A-Za-z0-9_-]{0,60}\d)(?=[A-Za-z0-9_-]{20})[A-Za-z0-9_-]++",  # OpenAI
    r"LTAI[A-Za-z0-9]{12,30}+(?![A-Za-z0-9])",  # Alibaba Cloud access key id
    r"STS\.[A-Za-z0-9]{16,}+",
    r"AKID[A-Za-z0-9]{13,40}+(?![A-Za-z0-9])",  # Tencent Cloud secret id
    r"AKLT[A-Za-z0-9_-]{16,}+={0,2}",  # Volcengine
    r"hf_[A-Za-z0-9]{20,}+",
    r"npm_[A-Za-z0-9]{30,}+",
    r"pypi-[A-Za-z0-9_-]{40,}+",
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+",  # SendGrid
    r"SK[0-9a-f]{32}(?![A-Za-z0-9])",  # Twilio
    r"key-[0-9a-f]{32}(?![A-Za-z0-9])",  # Mailgun
    r"do[opr]_v1_[0-9a-f]{40,}+",  # DigitalOcean
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",  # Shopify
    r"hv[sbr]\.[A-Za-z0-9_-]{20,}+",  # Vault
    r"dapi[0-9a-f]{32}",  # Databricks
    r"gl(?:c|sa)_[A-Za-z0-9+/=_]{20,}+",  # Grafana
    r"lin_api_[A-Za-z0-9]{20,}+",
    r"(?:ntn|secret)_[A-Za-z0-9]{40,}+",
    r"PMAK-[A-Za-z0-9-]{40,}+",
    r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}+",
    r"dckr_pat_[A-Za-z0-9_-]{20,}+",
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+",
    r"EAAC[A-Za-z0-9]{40,}+",
    r"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",  # Telegram bot
)
_KEY = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(_KEYS)})")
_HOOK = re.compile(  # addresses that anybody who knows them may post to
    r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}+"
    r"|(?<=/api/webhooks/)\d{15,}+/[A-Za-z0-9_-]{30,}+"  # Discord
    r"|(?<=/webhook/send\?key=)[A-Za-z0-9-]{20,}+"  # WeCom
    r"|(?<=/open-apis/bot/v2/hook/)[A-Za-z0-9-]{20,}+"  # Feishu
)
_JWT = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}+\.(?:eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+)?|[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+){3})"
)
_ARMOUR = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{0,40}+)-----")
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=:,.\s\"'|>-]|\\[nrt\\])*")
_PUTTY = re.compile(r"Private-Lines: \d+\r?\n((?:[A-Za-z0-9+/=]+\r?\n?)+)")
_HINTS = re.compile(r"eyJ|-----BEGIN|Private-Lines")


def find_issued_keys(text: str) -> Iterator[Span]:
    """Keys of well-known issuers, anywhere in the text."""
    for match in _KEY.finditer(text):
        yield Span(match.start(), match.end(), Kind.KEY)
    if "hook" in text:
        for match in _HOOK.finditer(text):
            yield Span(match.start(), match.end(), Kind.KEY)


def find_tokens_and_private_keys(text: str) -> Iterator[Span]:
    """JSON Web Tokens (whole, encrypted or cut off) and private keys, with escaped line breaks too."""
    if not _HINTS.search(text):
        return
    for match in _JWT.finditer(text):
        yield Span(match.start(), match.end(), Kind.JWT)
    yield from _private_keys(text)
    for match in _PUTTY.finditer(text):
        yield Span(match.start(1), match.end(1), Kind.PRIVATE_KEY)


def opens_private_key(text: str) -> bool:
    """Whether a private key begins in the text and does not end in it."""
    markers = _ARMOUR.findall(text)
    return bool(markers) and markers[-1][0] == "BEGIN" and _is_private(markers[-1][1])


def closes_armour(text: str) -> bool:
    return any(match[1] == "END" for match in _ARMOUR.finditer(text))


def _private_keys(text: str) -> Iterator[Span]:
    begin: re.Match[str] | None = None
    for marker in _ARMOUR.finditer(text):
        if begin is not None:
            if marker[1] == "END":
                yield Span(begin.start(), marker.end(), Kind.PRIVATE_KEY)
            else:
                yield _cut_off(text, begin, marker.start())
        begin = marker if marker[1] == "BEGIN" and _is_private(marker[2]) else None
    if begin is not None:
        yield _cut_off(text, begin, len(text))


def _cut_off(text: str, begin: re.Match[str], limit: int) -> Span:
    """A key without its end: everything up to the first character that no key holds."""
    body = _KEY_BODY.match(text, begin.end(), limit)
    return Span(begin.start(), body.end() if body else begin.end(), Kind.PRIVATE_KEY)


def _is_private(armour: str) -> bool:
    return "PRIVATE KEY" in armour
