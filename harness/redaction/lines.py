"""Values that reach to the end of a line or over several: YAML, .env, properties, connection strings."""

import re
from typing import NamedTuple

from harness.redaction.labels import Label
from harness.redaction.plausible import is_secret, is_sentence
from harness.redaction.spans import Kind, Span
from harness.redaction.values import QUOTE

_BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\r?\n")
_NEXT_LINE = re.compile(r"\r?\n[ \t]+(?P<value>[^\s:#\[{-][^\n:]{0,200}?)[ \t]*(?=\r?\n|$)")
_PREFIX = re.compile(r"[ \t]*(?:[-+>?*] |export |set |SET |ENV |ARG )?[ \t]*(?:[\"'])?")
_MORE_NAMES = re.compile(r"[\w.-]{1,40}[\"']?\s?(?:[=:：＝](?!//)|=>)|[,;，；。|\"'<>{}()&]| - | -[\w-]")
_YAML_LINE = re.compile(r"[ \t]*(?:- )?[\w.-]{1,80}:(?:[ \t]|\r?\n|$)")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*|[a-z][\w-]*(?:\.[\w-]+)+")
_ENV_REST = re.compile(r"\S{1,400}[ \t]*$", re.MULTILINE)
_MORE_PAIRS = re.compile(r"[;,][\w.-]{1,40}=")
_DSN_VALUE = re.compile(r"[^\s;=\"'{}][^;=\"'\n]{0,100} [^;=\"'\n]{0,100}(?=;)")
_LONGEST_LINE = 200
_LONGEST_PREFIX = 40


class Assignment(NamedTuple):
    """A secret name and its separator at `text[start:end]`; the value begins at `end`."""

    name: str
    label: Label
    start: int
    end: int
    quoted_name: bool
    gap: bool
    """White space before the separator."""
    separator: str
    space: bool
    """White space after the separator."""


def whole_line_value(text: str, found: Assignment) -> Span | None:
    """The value where it is more than one word or line, or None."""
    if block := _BLOCK.match(text, found.end):
        return _yaml_block(text, found, block.end())
    if QUOTE.match(text, found.end) or found.quoted_name:
        return None
    if found.separator == "=" and text[found.start - 1 : found.start] == ";":
        value = _DSN_VALUE.match(text, found.end)
        return Span(value.start(), value.end(), found.label.kind) if value else None
    prefix = _line_prefix(text, found.start)
    if prefix is None:
        return None
    if found.separator == "=" and not found.gap:
        return None if found.space else _env_value(text, found)
    if found.separator == ":" and (below := _NEXT_LINE.match(text, found.end)):
        accepted = is_secret(below["value"], found.label, found.name, quoted=False, prose=True)
        return Span(below.start("value"), below.end("value"), found.label.kind) if accepted else None
    return _words(text, found, prefix)


def _line_prefix(text: str, at: int) -> str | None:
    """Indentation and the like, if nothing else stands before `at` in its line."""
    before = text[max(0, at - _LONGEST_PREFIX) : at]
    line = before[before.rfind("\n") + 1 :]
    if len(line) == _LONGEST_PREFIX or not _PREFIX.fullmatch(line):
        return None
    return line


def _words(text: str, found: Assignment, prefix: str) -> Span | None:
    """`password: plum blossom 7`: a plain YAML or properties value reaches to the end of its line."""
    at = found.end
    if found.label.kind is not Kind.PASSWORD or found.label.weak:
        return None
    line_end = text.find("\n", at, at + _LONGEST_LINE)
    line_end = min(len(text), at + _LONGEST_LINE) if line_end < 0 else line_end
    rest = re.split(r"\s#", text[at:line_end], maxsplit=1)[0].rstrip()
    words = rest.split()
    if len(words) < 2 or is_sentence(rest) or rest[0] > "\u2e80" or _MORE_NAMES.search(rest):
        return None
    if not words[0].isalpha() and not _is_yaml(text, prefix, found.start - len(prefix), line_end):
        return None  # the first word can only be a secret, and a sentence goes on after it
    return Span(at, at + len(rest), found.label.kind)


def _is_yaml(text: str, prefix: str, line_start: int, line_end: int) -> bool:
    """Indented, or beside a line that looks like YAML."""
    if prefix[:1] in (" ", "\t") or (line_end < len(text) and _YAML_LINE.match(text, line_end + 1)):
        return True
    before = text[max(0, line_start - _LONGEST_LINE) : max(0, line_start - 1)]
    return line_start > 0 and bool(_YAML_LINE.match(before, before.rfind("\n") + 1))


def _env_value(text: str, found: Assignment) -> Span | None:
    """`NAME=value` alone on its line, as in .env and properties files: all of the rest is the value."""
    rest = _ENV_REST.match(text, found.end)
    if rest is None or not _ENV_NAME.fullmatch(found.name) or _MORE_PAIRS.search(rest[0]):
        return None
    value = rest[0].rstrip()
    if not is_secret(value, found.label, found.name, quoted=False, prose=False):
        return None
    return Span(found.end, found.end + len(value), found.label.kind)


def _yaml_block(text: str, found: Assignment, at: int) -> Span | None:
    """`password: |` and the more indented lines below it."""
    before = text[max(0, found.start - _LONGEST_LINE) : found.start]
    line = before[before.rfind("\n") + 1 :]
    depth = len(line) - len(line.lstrip(" \t"))
    deeper = re.compile(rf"[ \t]{{{depth + 1},}}+[^\n]*(?:\n|$)|[ \t]*\r?\n")
    end = at
    while end < len(text) and (more := deeper.match(text, end)):
        end = more.end()
    body = text[at:end]
    if not body.strip():
        return None
    return Span(at + len(body) - len(body.lstrip()), at + len(body.rstrip()), found.label.kind)
