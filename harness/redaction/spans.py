"""Spans of a text that are to be masked, and the writing of the masks."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a mask stands for; it is written into the mask."""

    PASSWORD = "password"  # noqa: S105
    SECRET = "secret"  # noqa: S105
    TOKEN = "token"  # noqa: S105
    KEY = "key"
    COOKIE = "cookie"
    BASIC = "basic"
    BEARER = "bearer"
    JWT = "jwt"
    PRIVATE_KEY = "private-key"
    CODE = "code"
    MOBILE = "mobile"
    ID_CARD = "id-card"
    BANK_CARD = "bank-card"


class Span(NamedTuple):
    """`text[start:end]` is a secret of `kind`."""

    start: int
    end: int
    kind: Kind


_MASK = re.compile(r"\[REDACTED:[a-z-]{1,20}\]")


def mask(kind: Kind) -> str:
    return f"[REDACTED:{kind}]"


def write_masks(text: str, spans: Iterable[Span]) -> str:
    """Replace each span; overlapping spans become one mask, existing masks and line breaks stay as they are."""
    parts: list[str] = []
    done = 0
    for span in _without_masks(text, _by_line(text, _merged(spans))):
        parts.append(text[done : span.start])
        parts.append(mask(span.kind))
        done = span.end
    parts.append(text[done:])
    return "".join(parts)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Sort by start; of overlapping spans the first to start names the kind (the earlier finder on a tie)."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda each: each.start):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.kind)
        elif span.end > span.start:
            merged.append(span)
    return merged


def _by_line(text: str, spans: list[Span]) -> list[Span]:
    """Split spans over several lines, so that a masked text keeps its number of lines."""
    lines: list[Span] = []
    for span in spans:
        start = span.start
        for line in text[span.start : span.end].split("\n"):
            if line.strip():
                lead = len(line) - len(line.lstrip())
                lines.append(Span(start + lead, start + len(line.rstrip()), span.kind))
            start += len(line) + 1
    return lines


def _without_masks(text: str, spans: list[Span]) -> list[Span]:
    """Cut what is masked already out of the spans; leftovers without a letter or digit are dropped."""
    masks = [match.span() for match in _MASK.finditer(text)] if spans and "[REDACTED:" in text else []
    if not masks:
        return spans
    kept: list[Span] = []
    at = 0
    for span in spans:
        while at < len(masks) and masks[at][1] <= span.start:
            at += 1
        start, index, pieces = span.start, at, []
        while index < len(masks) and masks[index][0] < span.end:
            pieces.append(Span(start, masks[index][0], span.kind))
            start = masks[index][1]
            index += 1
        if index == at:
            kept.append(span)
            continue
        pieces.append(Span(start, span.end, span.kind))
        kept += [piece for piece in pieces if any(c.isalnum() for c in text[piece.start : piece.end])]
    return kept
