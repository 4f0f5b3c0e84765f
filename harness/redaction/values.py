"""Where a value ends, in whatever notation it stands."""

import re
from typing import NamedTuple

CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\u2018\u2019\u201c\u201d"
_PREFIX = (  # of string literals in SQL and Python, and of functions that hash a password
    r"(?:[NnUuBbRrFf]|[Rr][Bb]|[Bb][Rr]|(?:MD5|SHA[12]?|PASSWORD|ENCRYPT|CRYPT|md5|sha[12]?|password|crypt)\([ ]?)"
)
QUOTE = re.compile(rf"(?:{_PREFIX}(?=[\"']))?(\\*+)(\"{{3}}|'{{3}}|[\"'`])|(&quot;|&#34;|&apos;|&#39;)|([“‘「『【])")
"""Where a quoted value begins: backslashes and quote, an entity, or a Chinese bracket."""

_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』", "【": "】"}
_UNTIL = {char: re.compile(rf"[^{char}\n]*+") for char in "\"'`&”’」』】"}
_RUN = re.compile(rf"[^\s\"'`,;&)\]}}>|\\<{CJK}%]++")
_NEXT_KEY = r"[\w\"'\\.\[\]%-]{1,60}(?:=|:(?!//)|%3[Dd])"
_STOP_AFTER = {
    ",": re.compile(rf",(?:\s|$|{_NEXT_KEY}|[\"'{{\[])"),
    ";": re.compile(r";(?:\s|$|[\w .-]{1,40}=|[\"'])"),
    "&": re.compile(rf"&(?:&|$|\s|(?:amp;)?{_NEXT_KEY}|(?:quot|lt|gt|#34|#39);)"),
    "|": re.compile(rf"\|(?:\s|$|\||{_NEXT_KEY})"),
    "<": re.compile(r"</|<br|<(?=\s|$)"),
    "\\": re.compile(r"\\+(?:[nrt\"']|u0026|$)"),
    "%": re.compile(r"%26|%0[AaDd]|%22"),
    ")": re.compile(r"\)(?![A-Za-z0-9!@#$%^*+_-])"),
    "]": re.compile(r"\](?![A-Za-z0-9!@#$%^*+_-])"),
    "}": re.compile(r"\}(?![A-Za-z0-9!@#$%^*+_-])"),
    ">": re.compile(r">(?![A-Za-z0-9!@#$%^*+_-])"),
}
_TEMPLATE = re.compile(r"\{\{[^{}\n]{0,200}\}\}|\$\{[^{}\n]{0,200}\}|\$\([^()\n]{0,200}\)|<%[^%\n]{0,200}%>")
_OPENERS = {")": "(", "]": "[", "}": "{", ">": "<"}


class Value(NamedTuple):
    """`text[start:end]` is the value without its quotes; reading goes on at `after`."""

    start: int
    end: int
    after: int
    quoted: bool


def read_value(text: str, at: int, *, in_query: bool = False, encoded: bool = False) -> Value:
    """Read the value that begins at `at`; it may be empty.

    `in_query`: an `&` ends it. `encoded`: it stands in a percent-encoded query, so `%26` does.
    """
    quote = QUOTE.match(text, at)
    if quote:
        return read_quoted(text, quote)
    return _read_bare(text, at, in_query=in_query, encoded=encoded)


def read_quoted(text: str, quote: re.Match[str]) -> Value:
    """Read up to the closing quote of the same escape level; without one, up to the end of the line."""
    start = quote.end()
    slashes, char, entity, bracket = quote.groups()
    closer = char or entity or _CLOSERS[bracket]
    levels = (len(slashes or "") + 1).bit_length() - 1  # 0, 1, 3, 7 backslashes: encoded 0, 1, 2, 3 times
    position = start
    while True:
        end, found = _find_in_line(text, closer, position)
        if not found or not char:
            return Value(start, end, end + len(closer) if found else end, True)
        run = end
        while run > position and text[run - 1] == "\\":
            run -= 1
        if _closes(end - run, levels):
            if char == "'" and levels == 0 and end > start and text.startswith("''", end):
                position = end + 2  # SQL writes a quote inside quotes twice
                continue
            return Value(start, min(run, end) if levels else end, end + len(closer), True)
        position = end + 1


def _find_in_line(text: str, closer: str, at: int) -> tuple[int, bool]:
    """Where `closer` begins, or where the line ends without it. Reads no further than it answers."""
    until = _UNTIL[closer[0]]
    while True:
        stretch = until.match(text, at)
        at = stretch.end() if stretch else at
        if at == len(text) or text[at] == "\n":
            return at, False
        if text.startswith(closer, at):
            return at, True
        at += 1


def _closes(run: int, levels: int) -> bool:
    """Whether a quote after `run` backslashes ends a string that was encoded `levels` times."""
    for _ in range(levels):
        if run % 2 == 0:
            return True  # the outer string ends here
        run = (run - 1) // 2
    return run % 2 == 0


def _read_bare(text: str, at: int, *, in_query: bool, encoded: bool) -> Value:
    if text.startswith("{", at) and (end := text.find("}", at, at + 200)) > 0 and text[end + 1 : end + 2] in ("", ";"):
        return Value(at + 1, end, end + 1, True)  # ODBC writes PWD={a;b}
    template = _TEMPLATE.match(text, at)
    position, size = template.end() if template else at, len(text)
    while position < size:
        run = _RUN.match(text, position)
        if run:
            position = run.end()
            continue
        char = text[position]
        stop = _STOP_AFTER.get(char)
        if stop is None or (char == "&" and in_query):
            break
        if char == "%" and not encoded:
            position += 1
            continue
        if stop.match(text, position) and not (
            char in _OPENERS and _OPENERS[char] in text[max(at, position - 40) : position]
        ):
            break
        position += 1
    return Value(at, position, position, False)
