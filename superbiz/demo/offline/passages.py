"""Sentences of documents, word for word, chosen by what they share with the question and the evidence."""

import re
from collections.abc import Iterator

from harness.redaction.words import words
from superbiz.demo.offline.conversation import JsonObject

MAX_QUOTE = 160
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
    for line in str(passage.get("excerpt", "")).splitlines():
        if _NO_SENTENCE.search(line):
            continue
        for sentence in _ENDS.split(_LIST_MARK.sub("", line)):
            quoted = quote(sentence)
            if len(quoted) >= 8:
                yield quoted


def best_sentence(passage: JsonObject, wanted: set[str]) -> str | None:
    """The sentence that shares most with `wanted`; the first one among equals."""
    return max(sentences(passage), key=lambda sentence: len(terms(sentence) & wanted), default=None)


def quote(text: str, most: int = MAX_QUOTE) -> str:
    """A slice of the first line that can stand between quotation marks and be found again."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    line = re.split("[“”]", line)[0].strip()
    if len(line) <= most:
        return line
    cut = line[:most]
    return cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut
