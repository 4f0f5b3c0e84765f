"""Whether a labelled value is a secret, or a status word, a placeholder, a count, a piece of code."""

import re

from harness.redaction.labels import Label
from harness.redaction.spans import Kind
from harness.redaction.words import STOP_WORDS, words

_PLACEHOLDER = re.compile(
    r"""(?ix)
      \[REDACTED:[a-z-]{1,20}\]?
    | [*•●.\-_#?~\s]+ | x{3,}                      # ****** or xxxx
    | [<\[({*]+[^\W\d](?:[^\W\d]|[\s:.,'/-])*[>\])}*]*  # <password>, [FILTERED], ***hidden***
    | \$\{[^}:]*(?::-?)?\}? | \{\{.*\}\}? | \$\(.*\)? | \#\{.*\}? | <%.*%>
    | \{\d*\} | %[sdvq] | %\(\w+\)s | \$\w+ | \?\d* | :[a-z_]\w* | @\{?\w+\}?
    | (?:optional|union|list|sequence|annotated|tuple|dict|type)\[.* | (?-i:DEFAULT) | [\w-]{0,12}\.{3,}\w{0,6}
    | your[-_ ].* | change[-_]?me | (?:string|varchar|char|text)\(\d+\)
    """
)
_CODE = re.compile(
    r"(?:self|this|request|req|config|conf|cfg|settings|process|os|env|system|args|opts|options|params|user|form|data"
    r"|ctx|context|props|props?erties|credentials|_POST|_GET|_ENV|input|body|payload|vault|secrets?)"
    r"(?:\.|->|::|\[|\?\.)[\w.\[\]'\"$>()-]*|[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]+)*\(.*",
    re.IGNORECASE,
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_ORDINARY = re.compile(  # times, versions, addresses, paths, files and algorithms are no secrets by their looks
    r"(?i)\d[\d:.,/T+-]*(?:Z|ms|us|ns|s|m|h|d|kb|mb|gb|b|%)?|v?\d+(?:\.\d+)+[\w.-]*|[a-z]+://.*|/[\w./-]*"
    r"|\S+\.(?:py|java|go|js|ts|xml|ya?ml|json|conf|properties|pem|key|txt|log)(?::\d+)?"
    r"|(?:aes|rsa|sha|md|des|hmac|sm|hs|rs|es|ed|pbkdf|base|utf|ecdsa)[-_]?\d+[\w-]*"
)
_COUNT_PREFIXES = ("fail", "invalid", "wrong", "bad", "num", "max", "min", "count", "total", "expired", "active")
_MAX_WORDS = 1000
_BOOLEANS = words("true false yes no on off enabled disabled")


def is_secret(value: str, label: Label, name: str, *, quoted: bool, prose: bool) -> bool:
    """`value` stands at `name`. `prose`: after a colon within a sentence, where words are mostly words."""
    value = value.strip()
    if len(value) > _MAX_WORDS:
        return True  # no status word or placeholder is that long, and what is masked need not be read again
    if not value or is_placeholder(value) or value.lower() in _BOOLEANS:
        return False
    if not quoted and (is_code(value) or value.lower().endswith("." + name.lower().rpartition(".")[2])):
        return False  # also `u.token = t.token`
    if label.kind is Kind.CODE:
        return value.isdigit() and 3 <= len(value) <= 8
    if value.isdigit():
        return _number_is_secret(value, label, name, prose=prose)
    if value.strip(".,:;!?()'\"").lower() in STOP_WORDS:
        return False
    if " " in value and is_sentence(value):
        return False
    if label.weak:
        return looks_secret(value) or (label.kind is Kind.PASSWORD and is_mixed(value))
    if label.kind is Kind.PASSWORD:
        return not (name.lower() in {"pwd", "oldpwd"} and value.startswith("/"))
    return len(value) >= 3 and not (prose and _is_name(value))


def is_placeholder(value: str) -> bool:
    """Masks, templates and variables stand where a secret would stand."""
    if _PLACEHOLDER.fullmatch(value):
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


def is_sentence(value: str) -> bool:
    """Words of which a third or more say what became of a secret; four random words have none or one."""
    words = [word.strip(".,:;!?()'\"").lower() for word in value.split(maxsplit=12)]
    known = sum(word in STOP_WORDS for word in words) * 3
    return known >= len(words) if words[0] in STOP_WORDS else known > len(words)


def is_code(value: str) -> bool:
    """A call, an attribute or an index: the program names where the secret is, not what it is."""
    return bool(_CODE.fullmatch(value))


def is_mixed(value: str) -> bool:
    """`pass=B0b#1` is a password, `pass=12`, `pass=first` and `pass=2/3` count something."""
    return any(c.isalpha() for c in value) and not value.isalpha() and not _ORDINARY.fullmatch(value)


def _is_name(value: str) -> bool:
    """`secret: shop`, `token: WECHAT`: lower or upper case words are names of secrets more often than secrets."""
    return len(value) < 16 and value.isalpha() and (value.islower() or value.isupper())
