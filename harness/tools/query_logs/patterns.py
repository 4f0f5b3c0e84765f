"""Patterns: masked messages grouped by template. The outcome depends on the messages, never on their order.

The leaves of a Drain tree (He et al., "Drain: An Online Log Parsing Approach with Fixed Depth Tree", ICWS 2017) are
the messages of one length that begin alike. Drain decides there by the share of equal tokens, message by message;
here all messages are known before the first is grouped, so that a position is a variable where the messages say so:

1. Messages that differ in one position only show what stands there. Many words, or words in the form of names, or
   words where names stand (`for …`, `user …`, in quotation marks) are a variable; two or three plain words
   (`opened`, `closed`) are different events.
2. What then still differs in several positions is joined when most tokens are equal and each other one is such a
   variable.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import TypeAlias

from harness.tools.query_logs.masks import WILDCARD, keeps_text

Tokens: TypeAlias = tuple[str, ...]

_MANY_WORDS = 6
_MANY_WORDS_IN_SHORT = 12
_MANY_CHINESE = 5
_MIN_EQUAL = 0.5
_MAX_ROUNDS = 8
_MAX_SIBLINGS = 400
_NAME_FOLLOWS = frozenset(
    """
    for from by at on via user username host hostname node file path dir directory named called device interface module
    package class component account group domain table topic queue
    """.split()  # noqa: SIM905  # a list literal would be one word a line
)
_NO_NAME = re.compile(
    r"[a-z]+(?:ed|ing)|is|was|are|were|has|had|not|no|up|down|on|off|in|of|to|at|by|and|or|with|lost|found|ok|full|empty"
    r"|start|stop|begin|end|begun|gone|done|ready|unknown"
)
_QUOTES = frozenset("\"'“”‘’`")
_NAME_FORM = re.compile(r"[A-Za-z0-9_$<*>]+(?:[./\\@:#$-][\w$<*>]+)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*")
_WORD = re.compile(r"\w")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]{4,}")


def pattern_id(template: Tokens) -> str:
    """The same for the same template, in any run."""
    return hashlib.sha256("\x1f".join(template).encode("utf-8", "replace")).hexdigest()[:12]


def group(messages: Iterable[Tokens], check: Callable[[], None] = lambda: None) -> dict[Tokens, Tokens]:
    """The template of each masked message. Templates have as many tokens as their messages.

    Thousands of messages of free text take a second: `check` is called every few milliseconds and may raise.
    """
    template_of: dict[Tokens, Tokens] = {}
    leaves: dict[int, set[Tokens]] = defaultdict(set)
    for tokens in messages:
        leaves[len(tokens)].add(tokens)
    for leaf in leaves.values():
        template_of |= _group_leaf(leaf, check)
    return template_of


def _group_leaf(leaf: set[Tokens], check: Callable[[], None]) -> dict[Tokens, Tokens]:
    current = {tokens: tokens for tokens in leaf}
    for step in (_by_position, _by_likeness):
        for _ in range(_MAX_ROUNDS):
            changes = step(set(current.values()), check)
            if not changes:
                break
            current = {tokens: _follow(template, changes) for tokens, template in current.items()}
    return current


def _follow(template: Tokens, changes: Mapping[Tokens, Tokens]) -> Tokens:
    return changes.get(template, template)


def _by_position(templates: set[Tokens], check: Callable[[], None]) -> dict[Tokens, Tokens]:
    """Templates that are equal but for one position, where that position is a variable."""
    changes: dict[Tokens, Tokens] = {}
    for position in range(len(next(iter(templates), ()))):
        check()
        alike: dict[Tokens, list[Tokens]] = defaultdict(list)
        for tokens in templates:
            if _WORD.search(tokens[position]) or tokens[position] == WILDCARD:
                alike[tokens[:position] + tokens[position + 1 :]].append(tokens)
        for siblings in alike.values():
            if len(siblings) > 1:
                for tokens, word in _variables(siblings, position):
                    general = changes.get(tokens, tokens)
                    changes[tokens] = (*general[:position], word, *general[position + 1 :])
    return changes


def _variables(siblings: list[Tokens], position: int) -> Iterator[tuple[Tokens, str]]:
    """What of the siblings differs by a variable at the position, with what stands there instead."""
    if _is_slot(siblings, position):
        yield from ((tokens, WILDCARD) for tokens in siblings)
        return
    names = [tokens for tokens in siblings if _is_name(tokens[position])]
    constant = sum(1 for index, token in enumerate(siblings[0]) if index != position and token.isalpha())
    many = _MANY_WORDS if constant > 1 else _MANY_WORDS_IN_SHORT
    if (constant and len(siblings) >= many) or any(tokens[position] == WILDCARD for tokens in names):
        yield from ((tokens, WILDCARD) for tokens in siblings)
    elif len(names) > 1:
        yield from ((tokens, WILDCARD) for tokens in names)
    else:
        yield from _chinese(siblings, position)


def _chinese(siblings: list[Tokens], position: int) -> Iterator[tuple[Tokens, str]]:
    """Chinese has no blanks: a name stands inside the text, between a begin and an end that are the same."""
    framed: dict[tuple[str, str], list[Tokens]] = defaultdict(list)
    for tokens in siblings:
        text = tokens[position]
        if _HAN.fullmatch(text):
            framed[text[:2], text[-2:]].append(tokens)
    for likes in framed.values():
        if len(likes) >= _MANY_CHINESE:
            texts = [tokens[position] for tokens in likes]
            begin = commonprefix(texts)  # noqa: RUF071  # of texts, not of paths
            end = commonprefix([text[len(begin) :][::-1] for text in texts])[::-1]  # noqa: RUF071
            yield from ((tokens, f"{begin}{WILDCARD}{end}") for tokens in likes)


def _is_name(token: str) -> bool:
    return token == WILDCARD or WILDCARD in token or _NAME_FORM.fullmatch(token) is not None


def _is_slot(likes: Sequence[Tokens], position: int) -> bool:
    """Whether names are to be expected at the position, and what stands there may be names."""
    tokens = likes[0]
    before = tokens[position - 1] if position else ""
    after = tokens[position + 1] if position + 1 < len(tokens) else ""
    quoted = before in _QUOTES and after in _QUOTES
    if keeps_text(_key(tokens, position - quoted)):
        return False
    if quoted:
        return tokens[position + 2 : position + 3] != (":",)  # the key of a JSON field
    if before.lower() not in _NAME_FOLLOWS and before != "=":
        return False
    return not any(_NO_NAME.fullmatch(each[position]) for each in likes)


def _key(tokens: Tokens, position: int) -> str:
    """The key of the value that begins at the position, as in `key=value` and `"key": "value"`; else nothing."""
    sign = tokens[position - 1] if position > 1 else ""
    if sign == "=":
        return tokens[position - 2]
    return tokens[position - 3] if sign == ":" and position > 2 and tokens[position - 2] in _QUOTES else ""


def _by_likeness(templates: set[Tokens], check: Callable[[], None]) -> dict[Tokens, Tokens]:
    """Templates that begin alike, share most tokens and differ where variables stand, joined in a fixed order."""
    begins: dict[str, list[Tokens]] = defaultdict(list)
    for tokens in sorted(templates):
        begins[next((token for token in tokens if token[:1].isalpha()), "")].append(tokens)
    changes: dict[Tokens, Tokens] = {}
    for likes in begins.values():
        if len(likes) > _MAX_SIBLINGS:  # free text: comparing each with each would take minutes
            continue
        joined: list[tuple[Tokens, list[Tokens]]] = []
        for tokens in likes:
            check()
            for index, (general, members) in enumerate(joined):
                if _alike(general, tokens):
                    members.append(tokens)
                    joined[index] = (_join(general, tokens), members)
                    break
            else:
                joined.append((tokens, [tokens]))
        for general, members in joined:
            changes |= {tokens: general for tokens in members if tokens != general}
    return changes


def _join(one: Tokens, other: Tokens) -> Tokens:
    return tuple(mine if mine == theirs else WILDCARD for mine, theirs in zip(one, other, strict=True))


def _alike(one: Tokens, other: Tokens) -> bool:
    words = equal = 0
    for position, (mine, theirs) in enumerate(zip(one, other, strict=True)):
        if mine == theirs:
            if mine[:1].isalpha():
                words += 1
                equal += 1
            continue
        if not ((_is_name(mine) and _is_name(theirs)) or _is_slot((one, other), position)):
            return False
        words += 1
    return words > 0 and equal >= words * _MIN_EQUAL
