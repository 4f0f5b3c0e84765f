"""The terms of a text: words, identifiers, and for Chinese also character pairs. Source: 06-knowledge, "Retrieval"."""

import logging
import re
import zlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import snowballstemmer

from knowledge.models import TERM_SPACE

_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[_.:/-][A-Za-z0-9]+)+|[A-Za-zÀ-ɏ]+|\d+|[\u3400-\u9fff\uf900-\ufaff]+")
_PART = re.compile(r"[A-Za-z]+|\d+")
_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_STOP_WORDS = frozenset((Path(__file__).parent / "stop_words.txt").read_text(encoding="utf-8").split())


def terms(text: str) -> Counter[str]:
    """Each term with its number of occurrences.

    English words are stemmed; identifiers such as `ERR_TIMEOUT` or `order-service` count whole and by part;
    Chinese counts by word (jieba) and by pairs of characters.
    """
    found: Counter[str] = Counter()
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _CHINESE.match(token):
            _count_chinese(token, found)
            continue
        word = token.lower()
        parts = _PART.findall(word)
        if len(parts) > 1:
            found[word] += 1
        for part in parts:
            _count_word(part, found)
        camel = _CAMEL.findall(token) if len(parts) == 1 else []
        if len(camel) > 1:
            for part in camel:
                _count_word(part.lower(), found)
    return found


def language(text: str) -> str:
    """`zh` when a tenth of the letters are Chinese, else `en`."""
    letters = sum(character.isalpha() for character in text[:20_000])
    return "zh" if len(_CHINESE.findall(text[:20_000])) * 10 > letters else "en"


def term_number(term: str) -> int:
    """The term's dimension: a hash below `TERM_SPACE`."""
    return zlib.crc32(term.encode()) % TERM_SPACE


def _count_word(word: str, found: Counter[str]) -> None:
    if word not in _STOP_WORDS:
        found[_stem(word)] += 1


def _count_chinese(run: str, found: Counter[str]) -> None:
    for word in _jieba().cut(run, HMM=False):
        if word not in _STOP_WORDS and len(word) != 2:  # words of two are among the pairs below
            found[word] += 1
    for pair in (run[at : at + 2] for at in range(len(run) - 1)):
        if pair not in _STOP_WORDS:
            found[pair] += 1


@cache
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")


@cache
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _jieba() -> Any:
    import jieba

    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    return jieba
