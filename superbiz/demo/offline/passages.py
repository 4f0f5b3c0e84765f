"""Sentences and log lines, word for word, chosen by what they share with the question, or by severity."""

import re
from collections.abc import Iterator

from harness.redaction.words import words
from superbiz.demo.offline.conversation import JsonObject

MAX_QUOTE = 160
SEVERE = 2
"""The severity of a warning; errors are below."""
_SEVERITY = {"FATAL": 0, "CRITICAL": 0, "ERROR": 1, "SEVERE": 1, "WARN": SEVERE, "WARNING": SEVERE}
_WORDS = re.compile(r"[A-Za-z0-9_-]{3,}|[\u4e00-\u9fff]+", re.ASCII)
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d{1,2}[.)、])\s+")
_NO_SENTENCE = re.compile(r"^\s*(?:#|\||```|---|\{\{|<)|^\s*$")
_ENDS = re.compile(r"(?<=[。！？；])|(?<=[.!?;])\s+")
_STOPS = words(
    "the and for are was were has have had not but with that this from can will may you your into when what why how "
    "which there been does did its our out all any who then than also please check find"
)


def terms(text: str) -> set[str]:
    """Words of English and of identifiers, pairs of characters of Chinese."""
    found: set[str] = set()
    for word in _WORDS.findall(text.lower()):
        if "\u4e00" <= word[0] <= "\u9fff":
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _STOPS:
            found.update((word, *(part for part in re.split("[-_]", word) if len(part) > 3)))
    return found


def sentences(passage: JsonObject) -> Iterator[str]:
    """What can be quoted of an excerpt: exact slices without headings, tables and code."""
    headings = {str(passage.get("title", "")), *re.split(r"\s*[>›/]\s*", str(passage.get("breadcrumb", "")))}
    for line in str(passage.get("excerpt", "")).splitlines():
        if _NO_SENTENCE.search(line) or line.strip() in headings:
            continue
        for sentence in _ENDS.split(_LIST_MARK.sub("", line)):
            quoted = quote(sentence)
            if len(quoted) >= 8:
                yield quoted


def best_sentence(passage: JsonObject, wanted: set[str]) -> str | None:
    """The sentence that shares most with `wanted`; the first one among equals."""
    return max(sentences(passage), key=lambda sentence: shared(sentence, wanted), default=None)


def shared(sentence: str, wanted: set[str]) -> int:
    """How many of the wanted terms it has."""
    return len(terms(sentence) & wanted)


def quote(text: str, most: int = MAX_QUOTE) -> str:
    """A slice of the first line that can stand between quotation marks and be found again."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    line = re.split("[“”]", line)[0].strip()
    if len(line) <= most:
        return line
    cut = line[:most]
    return cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut


def severity(pattern: JsonObject) -> int:
    """0 for the worst; what is at most a warning comes after `SEVERE`."""
    return _SEVERITY.get(str(pattern.get("level", "")).upper(), SEVERE + 1)
