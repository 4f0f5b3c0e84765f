"""Whether a labelled value is a secret, or a status word, a placeholder, a count, a piece of code."""

import re

from harness.redaction.labels import Label
from harness.redaction.spans import Kind
from harness.redaction.words import STOP_WORDS, words

_PLACEHOLDER = re.compile(
    r"""(?ix)
      [*•●xX.\-_#?~\s]+                            # ****** or xxxx
    | [<\[({*]+[\s\w:.,'/-]*[>\])}*]+              # <password>, [FILTERED], ***hidden***
    | \$\{[^}:]*(?::-?)?\}? | \{\{.*\}\}? | \$\(.*\)? | \#\{.*\}? | <%.*%>
    | %[sdvq] | %\(\w+\)s | \$\w+ | \?\d* | :[a-z_]\w* | @\{?\w+\}?
    | your[-_ ].* | change[-_]?me | (?:string|varchar|char|text)\(\d+\)
    """
)
_CODE = re.compile(
    r"(?:self|this|request|req|config|conf|cfg|settings|process|os|env|system|args|opts|options|params|user|form|data"
    r"|ctx|context|props|props?erties|credentials|_POST|_GET|_ENV|input|body|payload|vault|secrets?)"
    r"(?:\.|->|::|\[|\?\.)[\w.\[\]'\"$>()-]*|[A-Za-z_]\w*(?:\.\w+)*\(.*",
    re.IGNORECASE,
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_ORDINARY = re.compile(  # times, addresses, versions, paths and URLs are no secrets by their looks
    r"(?i)\d[\d:.,/T+-]*(?:Z|ms|us|ns|s|m|h|d|kb|mb|gb|b|%)?|v?\d+(?:\.\d+)+[\w.-]*|[a-z]+://.*|/[\w./-]*|\S+\.(?:py|java|go|js|ts|xml|ya?ml|json|conf|properties|pem|key|txt|log)(?::\d+)?"
)
_COUNT_PREFIXES = ("fail", "invalid", "wrong", "bad", "num", "max", "min", "count", "total", "expired", "active")
_BOOLEANS = words("true false yes no on off enabled disabled")


def is_secret(value: str, label: Label, name: str, *, quoted: bool, prose: bool) -> bool:
    """`value` stands at `name`. `prose`: after a colon within a sentence, where words are mostly words."""
    value = value.strip()
    if not value or is_placeholder(value) or value.lower() in _BOOLEANS:
        return False
    if not quoted and _CODE.fullmatch(value) and not any(c.isdigit() for c in value):
        return False
    if label.kind is Kind.CODE:
        return value.isdigit() and 3 <= len(value) <= 8
    if value.isdigit():
        return _number_is_secret(value, label, name, prose=prose)
    if value.strip(".,:;!?()'\"").lower() in STOP_WORDS:
        return False
    if " " in value and _is_sentence(value):
        return False
    if label.weak:
        return looks_secret(value)
    if label.kind is Kind.PASSWORD:
        return not (name.lower() in {"pwd", "oldpwd"} and value.startswith("/"))
    return len(value) >= 4 and (any(c.isdigit() for c in value) or not _is_name(value, label))


def is_placeholder(value: str) -> bool:
    """Masks, templates and variables stand where a secret would stand."""
    if value.startswith("[REDACTED:") or _PLACEHOLDER.fullmatch(value):
        return True
    stars = value.count("*")
    return "***" in value and stars * 3 >= len(value)


def looks_secret(value: str) -> bool:
    """Letters and digits mixed, or a long mix of cases: nothing that a word, number, time, path or UUID would be."""
    if len(value) < 8 or _ORDINARY.fullmatch(value) or _UUID.fullmatch(value):
        return False
    digit = any(c.isdigit() for c in value)
    letter = any(c.isalpha() and c.isascii() for c in value)
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value)
    return (digit and letter) or (len(value) >= 20 and mixed and value.isalnum())


def _number_is_secret(value: str, label: Label, name: str, *, prose: bool) -> bool:
    if name.lower().startswith(_COUNT_PREFIXES):
        return False
    if label.kind is Kind.PASSWORD and not label.weak:
        return len(value) >= (4 if prose else 1)
    return len(value) >= 6


def _is_sentence(value: str) -> bool:
    words = [word.strip(".,:;!?()'\"").lower() for word in value.split(maxsplit=12)]
    known = sum(word in STOP_WORDS for word in words)
    return words[0] in STOP_WORDS or known >= 2


def _is_name(value: str, label: Label) -> bool:
    """`secret: shop-tls`, `token=WECHAT`: lower or upper case words are names of secrets more often than secrets."""
    return (
        label.kind is not Kind.PASSWORD and len(value) < 16 and value.isalpha() and (value.islower() or value.isupper())
    )
