"""Redaction of a stream: whole lines are passed on as soon as no secret can still reach beyond them."""

import re
from collections.abc import Iterable, Iterator

from harness.redaction.formats import opens_private_key
from harness.redaction.text import redact_text

_MAX_HELD = 1 << 20
_MAX_LINES = 200
_BEGIN = "-----BEGIN "
_WITHOUT_VALUE = re.compile(r"[:=：]\s*(?:[|>][+-]?\d?)?\s*$")


def redact_stream(chunks: Iterable[str]) -> Iterator[str]:
    """Redact text that comes in pieces; the pieces that go out are the whole text redacted.

    What may go on in the next line (a private key, a YAML block, a value on a line of its own) is held back,
    at most 1 MiB of it; a single line of any length is redacted as one.
    """
    held: list[str] = []  # joined only where a line ends, so that a line of any length is copied once
    for chunk in chunks:
        held.append(chunk)
        if "\n" not in chunk:
            continue
        text = "".join(held)
        end = _complete(text, text.rfind("\n") + 1)
        if end:
            yield redact_text(text[:end])
        held = [text[end:]]
    if rest := "".join(held):
        yield redact_text(rest)


def _complete(text: str, end: int) -> int:
    """How much of `text[:end]`, whole lines, may be passed on; 0 if all of it may still go on."""
    keep = min(_start_of_open_key(text, end), _start_of_open_value(text, end))
    return end if end - keep > _MAX_HELD else keep


def _start_of_open_key(text: str, end: int) -> int:
    begin = text.rfind(_BEGIN, 0, end)
    if begin < 0 or not opens_private_key(text[begin:end]):
        return end
    return text.rfind("\n", 0, begin) + 1


def _start_of_open_value(text: str, end: int) -> int:
    """The line that ends in a name without a value, if only deeper lines follow it."""
    start = end
    for _ in range(_MAX_LINES):
        if start == 0:
            return end
        line_end = start - 1
        start = text.rfind("\n", 0, line_end) + 1
        line = text[start:line_end]
        if _WITHOUT_VALUE.search(line[-200:]):
            return start
        if line.strip() and not line[0].isspace():
            return end
    return end
