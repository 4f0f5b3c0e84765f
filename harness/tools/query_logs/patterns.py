"""Patterns: events grouped by a stable template. Variable parts are masked, then a Drain-like tree groups the rest.

Source: He et al., "Drain: An Online Log Parsing Approach with Fixed Depth Tree" (ICWS 2017), with masks that
also work inside Chinese text, JSON and key=value.
"""

import hashlib
import re
from dataclasses import dataclass
from operator import eq

WILDCARD = "<*>"
_SIMILARITY = 0.5
_MAX_TOKENS = 120
_MAX_GROUPS = 5_000
_MAX_KNOWN = 20_000

_CHINESE_NUMBER = re.compile(
    r"(?<=[\u3400-\u9fff：，、（【])-?[0-9a-fA-F]*\d[0-9a-fA-F.,:-]*%?|-?\d+(?:[.,:]\d+)*%?(?=[\u3400-\u9fff])"
)
_KEY_VALUE = re.compile(r"([A-Za-z_][\w.-]*)=(\"[^\"]*\"|'[^']*'|\[[^\]]*\]|[^\s,;&)\]}\"]+)")
_JSON_VALUE = re.compile(r"(\"[\w.@-]+\"\s*:\s*)(\"(?:[^\"\\]|\\.)*\"|-?\d+(?:\.\d+)?|true|false|null)")
_VARIABLE = re.compile(r"\S*\d\S*")
_FRAMED_NUMBER = re.compile(r"([(\[{<'\"]*)-?\d+(?:[.,:]\d+)*([)\]}>'\",;:.]*)")


@dataclass(slots=True)
class Pattern:
    """One group; `template` only ever gets more general."""

    tokens: list[str]
    count: int = 0

    @property
    def template(self) -> str:
        return " ".join(self.tokens)

    @property
    def pattern_id(self) -> str:
        return hashlib.sha256(self.template.encode()).hexdigest()[:12]


class PatternMiner:
    """Groups messages one by one; equal messages are looked up, not searched."""

    def __init__(self) -> None:
        self._known: dict[bytes, Pattern] = {}
        self._by_shape: dict[tuple[int, str], list[Pattern]] = {}
        self.patterns: list[Pattern] = []

    def add(self, message: str) -> Pattern:
        """The pattern of a message, which is counted.

        Messages that differ in digits only are one pattern; that settles most without masking anything.
        """
        skeleton = message.encode("utf-8", "replace").translate(None, b"0123456789")
        pattern = self._known.get(skeleton)
        if pattern is None:
            pattern = self._find(mask(message).split()[:_MAX_TOKENS] or [""])
            if len(self._known) < _MAX_KNOWN:
                self._known[skeleton] = pattern
        pattern.count += 1
        return pattern

    def _find(self, tokens: list[str]) -> Pattern:
        first = next((token for token in tokens if WILDCARD not in token), "")
        shape = (len(tokens), first)
        siblings = self._by_shape.setdefault(shape, [])
        best, best_share = None, 0.0
        for pattern in siblings:
            share = _similarity(pattern.tokens, tokens)
            if share > best_share:
                best, best_share = pattern, share
        if best is not None and (best_share >= _SIMILARITY or len(self.patterns) >= _MAX_GROUPS):
            best.tokens = [
                mine if mine == theirs else WILDCARD for mine, theirs in zip(best.tokens, tokens, strict=True)
            ]
            return best
        pattern = Pattern(list(tokens))
        siblings.append(pattern)
        self.patterns.append(pattern)
        return pattern


def mask(message: str) -> str:
    """The first line with its variable parts masked: values of keys, and every word that holds a digit."""
    text = message.partition("\n")[0][:4000]
    if '":' in text or '" :' in text:
        text = _JSON_VALUE.sub(rf"\1{WILDCARD}", text)
    if "=" in text:
        text = _KEY_VALUE.sub(rf"\1={WILDCARD}", text)
    if not text.isascii():
        text = _CHINESE_NUMBER.sub(WILDCARD, text)
    return _VARIABLE.sub(_mask_word, text)


def _mask_word(match: re.Match[str]) -> str:
    """A number keeps the punctuation around it; any other word with a digit goes whole."""
    framed = _FRAMED_NUMBER.fullmatch(match.group())
    return WILDCARD if framed is None else f"{framed[1]}{WILDCARD}{framed[2]}"


def _similarity(template: list[str], tokens: list[str]) -> float:
    return float(sum(map(eq, template, tokens))) / len(tokens)
