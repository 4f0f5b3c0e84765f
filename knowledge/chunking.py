"""Chunks: by structure first, about 500 characters, never across a heading, each an exact slice of the text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"[。！？；]+[”’」』）)]*|[.!?;]+[\"'”’)]*(?=\s)|\n+")
_MIN_WINDOW, _MAX_WINDOW = 12, 300


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text that is better kept whole: a paragraph, a list item, a table, a code block."""

    start: int
    end: int
    breadcrumb: str


@dataclass(frozen=True, slots=True)
class Slice:
    """One chunk, as positions in the text."""

    start: int
    end: int
    breadcrumb: str


def chunk(text: str, blocks: Sequence[Block], size: int) -> list[Slice]:
    """Fill chunks with blocks of one breadcrumb up to `size` characters; longer blocks are cut at sentences."""
    slices: list[Slice] = []
    current: Slice | None = None
    for block in blocks:
        for start, end in _pieces(text, block, size):
            if current is not None and current.breadcrumb == block.breadcrumb and end - current.start <= size:
                current = Slice(current.start, end, block.breadcrumb)
                slices[-1] = current
            else:
                current = Slice(start, end, block.breadcrumb)
                slices.append(current)
    return slices


def windows(text: str) -> list[str]:
    """The sentences of a chunk, short ones joined with the next, long ones cut."""
    found: list[str] = []
    held = ""
    for sentence in _sentences(text):
        held += sentence
        if len(held.strip()) >= _MIN_WINDOW:
            found.extend(held[at : at + _MAX_WINDOW].strip() for at in range(0, len(held), _MAX_WINDOW))
            held = ""
    if held.strip():
        found.append(held.strip())
    return [window for window in found if window]


def _pieces(text: str, block: Block, size: int) -> Iterator[tuple[int, int]]:
    start, end = _trim(text, block.start, block.end)
    while end - start > size * 1.6:
        cut = _cut(text, start, start + size)
        piece = _trim(text, start, cut)
        if piece[1] > piece[0]:
            yield piece
        start, _ = _trim(text, cut, end)
    if end > start:
        yield start, end


def _cut(text: str, start: int, limit: int) -> int:
    """The last end of a sentence, else the last white space, before `limit`; at least half of it."""
    least = start + (limit - start) // 2
    ends = [match.end() for match in _SENTENCE_END.finditer(text, start, limit) if match.end() >= least]
    if ends:
        return ends[-1]
    spaces = [at for at in range(least, limit) if text[at].isspace()]
    return spaces[-1] if spaces else limit


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _sentences(text: str) -> Iterator[str]:
    at = 0
    for match in _SENTENCE_END.finditer(text):
        yield text[at : match.end()]
        at = match.end()
    if at < len(text):
        yield text[at:]
