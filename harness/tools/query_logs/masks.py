"""Masks: a message as tokens, with numbers, ids, addresses, times and values of keys replaced by `<*>`.

Tokens are not blanks' work alone: punctuation, brackets and the borders of Chinese text separate them too, and
the values of JSON and `key=value` are told from their keys.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

WILDCARD = "<*>"
MAX_CHARACTERS = 2_000
MAX_TOKENS = 160

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_KEEPS_TEXT = re.compile(r"msg|message|error|err|reason|exception|event|level|lvl|severity|状态|原因", re.IGNORECASE)
_UNITS = (
    r"[KMGTP]i?B(?:/s)?|bytes?|B|ms|msecs?|millis(?:econds?)?|us|ns|µs|seconds?|secs?|sec\.|s|minutes?|mins?|m|hours?|hrs?|h"
    r"|days?|d|毫秒|秒钟?|分钟|小时|天|字节|%|％"
)
# Ordered: what contains the others comes first. Each alternative is linear on any input.
_VARIABLE = re.compile(
    rf"""
    (?P<json>"[\w.@$-]{{1,64}}"\s*:\s*)(?:"(?P<jsontext>(?:[^"\\]|\\.){{0,1000}})"|(?P<jsonvalue>-?\d[\d.eE+-]*|true|false|null))
    |(?P<key>(?<![\w.-])[A-Za-z_][\w.-]{{0,63}}=)(?:"(?P<quoted>[^"]{{0,1000}})"|'(?P<single>[^']{{0,1000}})'|(?P<value>[^\s,;&()\[\]{{}}"'<>，。；、）】]+))
    |(?P<url>\b[A-Za-z][A-Za-z0-9+.-]{{1,20}}://[^\s"'<>，。；）】]+)
    |(?P<path>(?<![\w.:<*])(?:[A-Za-z]:)?(?:[/\\][\w.$%@+~:*\-]+){{2,}}[/\\]?(?:\?[^\s"'<>]*)?|(?<![\w.:/])/[\w.$%@+~:*\-]+(?:\?[^\s"'<>]*)?)
    |(?P<quantity>(?<![\w.])[<>~]?-?\d[\d.,]*\s?(?:{_UNITS})(?![A-Za-z]))
    |(?P<word>(?:(?!\d)[\w.:@/#$%+*~&\\-])*\d[\w.:@/#$%+*~&\\-]*)
    """,
    re.VERBOSE | re.ASCII,
)
_TOKEN = re.compile(
    rf"<\*>|[{_HAN}]+|(?:(?!\.+(?:\s|$))[^\s{_HAN},;:=()\[\]{{}}<>\"'|!，。；：！？、（）【】《》“”])+|\.+(?=\s|$)|[^\s]"
)
_TRAILING = ".:,"
_FIGURE = re.compile(r"[0-9]+")
_FIGURES = bytes.maketrans(b"123456789", b"000000000")


class Masked(NamedTuple):
    """The tokens of a message; `blanks` says for each whether a blank stands before it."""

    tokens: tuple[str, ...]
    blanks: tuple[bool, ...]

    def text(self, tokens: Sequence[str] | None = None) -> str:
        """For people; `tokens` may be more general ones of the same number."""
        pairs = zip(tokens or self.tokens, self.blanks, strict=True)
        return "".join(f" {token}" if blank else token for token, blank in pairs).strip()


def mask(message: str) -> Masked:
    """The first line of a message, at most `MAX_CHARACTERS` of it."""
    line = message.lstrip().partition("\n")[0][:MAX_CHARACTERS].rstrip()
    text = _mask_text(line)
    tokens: list[str] = []
    blanks: list[bool] = []
    end = 0
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token == WILDCARD:
            # One variable or a list of them: `1, 2, 3` and `1` are the same template.
            if tokens and tokens[-1] == WILDCARD:
                end = found.end()
                continue
            if len(tokens) > 1 and tokens[-1] in ",、" and tokens[-2] == WILDCARD:
                tokens.pop()
                blanks.pop()
                end = found.end()
                continue
        tokens.append(token)
        blanks.append(found.start() > end)
        end = found.end()
        if len(tokens) == MAX_TOKENS:
            break
    return Masked(tuple(tokens), tuple(blanks))


def _mask_text(line: str) -> str:
    return _VARIABLE.sub(_replace, line)


def _replace(match: re.Match[str]) -> str:
    if match["json"] is not None:
        name = match["json"].split('"')[1]
        key = _mask_figures(match["json"])
        return f"{key}{WILDCARD}" if match["jsontext"] is None else f'{key}"{_value(name, match["jsontext"])}"'
    if match["key"] is not None:
        name = match["key"][:-1]
        key = _mask_figures(match["key"])
        for group, sign in (("quoted", '"'), ("single", "'"), ("value", "")):
            if match[group] is not None:
                return f"{key}{sign}{_value(name, match[group])}{sign}"
    found = match.group()
    if match["word"] is not None:
        return _mask_word(found)
    stripped = found.rstrip(_TRAILING)
    return WILDCARD + found[len(stripped) :]


def _mask_figures(key: str) -> str:
    """`disk1=` and `disk2=` are one event, as two words with a figure are."""
    return _FIGURE.sub(WILDCARD, key)


def _value(name: str, value: str) -> str:
    """A value is a variable, but what keys such as `msg` hold is the event itself."""
    if not value:
        return value
    return _mask_text(value) if keeps_text(name) else WILDCARD


def keeps_text(key: str) -> bool:
    """Whether what a key of this name holds tells events apart."""
    return _KEEPS_TEXT.fullmatch(key) is not None


def _mask_word(word: str) -> str:
    """A word with a digit goes whole, but for a trailing sign and for what stands before a colon without digits."""
    stripped = word.rstrip(_TRAILING)
    label, colon, rest = stripped.partition(":")
    if colon and rest and label.isalpha() and len(label) > 1:
        return f"{label}:{WILDCARD}{word[len(stripped) :]}"
    return WILDCARD + word[len(stripped) :]


def outline(line: bytes) -> bytes:
    """The line with each figure as `0`; lines of one outline have one skeleton."""
    return line.translate(_FIGURES)


def skeleton(line: bytes) -> bytes:
    """The line with each run of figures as one, or nearly so: a key that is a hundred times cheaper than a mask.

    Lines of one skeleton have the same mask.
    """
    return outline(line).replace(b"0000", b"0").replace(b"00", b"0").replace(b"00", b"0")
