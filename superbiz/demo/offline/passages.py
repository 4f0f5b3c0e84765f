"""Sentences and log lines, word for word, chosen by what they share with the question, or by severity."""

import re
from collections.abc import Iterator, Sequence

from harness.redaction.words import words
from superbiz.demo.offline.conversation import JsonObject

MAX_QUOTE = 160
SEVERE = 2
"""The severity of a warning; errors are below."""
_SEVERITY = {"FATAL": 0, "CRITICAL": 0, "ERROR": 1, "SEVERE": 1, "WARN": SEVERE, "WARNING": SEVERE}
_WORDS = re.compile(r"[A-Za-z0-9_-]{3,}|[\u4e00-\u9fff]+", re.ASCII)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ing|s)$")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d{1,2}[.)、])\s+")
_HAN = re.compile("[\u4e00-\u9fff]")
_GENERAL = re.compile(
    r"多少|几[次条个]|最近|今天|昨天|一天|小时|分钟|帮我|排查|诊断|查看|检查|原因|为什么|怎么|失败|错误|异常|报错|次数|一下|请"
    r"|\b(?:how|many|often|number|last|hours?|minutes?|days?|today|yesterday|investigate|diagnose|errors?|failed|fail"
    r"|failures?|happen(?:ed|ing)?|problems?|issues?|were|there|count)\b",
    re.IGNORECASE,
)
SHARED_IN_CHINESE, SHARED_IN_ENGLISH, SHARED_WITH_LINE = 3, 2, 3
"""Terms that a passage shares with the question, or with a log line, when it is about it."""
_NO_SENTENCE = re.compile(r"^\s*(?:#|\||```|---|\{\{|<)|^\s*$")
_ENDS = re.compile(r"(?<=[。！？；])|(?<=[.!?;])\s+")
_STOPS = words(
    "the and for are was were has have had not but with that this from can will may you your into when what why how "
    "which there been does did its our out all any who then than also please check find"
)


def terms(text: str) -> set[str]:
    """Words of English, identifiers whole and in parts, pairs of characters of Chinese."""
    found: set[str] = set()
    for word in _WORDS.findall(f"{text} {_HUMP.sub(' ', text)}".lower()):
        if "\u4e00" <= word[0] <= "\u9fff":
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _STOPS:
            found.update((word, _ENDING.sub("", word), *(part for part in re.split("[-_]", word) if len(part) > 3)))
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


def belongs(passage: JsonObject, question: str, lines: Sequence[str]) -> bool:
    """Whether a found passage is about the question or a log line, and not merely the nearest there is.

    A passage in the other language shares no words with the question: there the retrieval decides.
    """
    text = f"{passage.get('title', '')} {passage.get('breadcrumb', '')} {passage.get('excerpt', '')}"
    if any(shared(text, terms(line)) >= SHARED_WITH_LINE for line in lines):
        return True
    chinese = bool(_HAN.search(question))
    if chinese != bool(_HAN.search(text)):
        return not lines
    asked = terms(_GENERAL.sub(" ", question))
    return shared(text, asked) >= min(len(asked), SHARED_IN_CHINESE if chinese else SHARED_IN_ENGLISH)


def severity(pattern: JsonObject) -> int:
    """0 for the worst; what is at most a warning comes after `SEVERE`."""
    return _SEVERITY.get(str(pattern.get("level", "")).upper(), SEVERE + 1)
