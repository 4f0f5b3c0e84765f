"""Reads a statement as MariaDB's lexer would, and spells it so that the parser cannot read it otherwise.

sqlglot's tokenizer and MariaDB's disagree in many places: which words are reserved (`FULL`, `SEMI`),
comments that run, escapes, numbers, what `--` begins. So the text never reaches the parser. What reaches
it is a canonical text: keywords of the subset, operators, and for each name, string and function a
stand-in (`` `i3` ``, `'s5'`, `f7`) that no dialect gives a meaning. The guard maps them back.
Lexical rules: MariaDB 10.11 with our `sql_mode` (no ANSI_QUOTES, NO_BACKSLASH_ESCAPES, PIPES_AS_CONCAT).
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from harness.tools.query_mysql import words
from harness.tools.query_mysql.functions import CATALOGUE
from harness.tools.query_mysql.refusal import RefusalCode, quoted, refuse

MAX_DEPTH = 20
"""Open parentheses, CASEs and prefix operators; the parser recurses some 28 frames for each."""
MAX_TOKENS = 4_000


class Kind(Enum):
    """What a token is."""

    KEYWORD = 1
    NAME = 2
    STRING = 3
    NUMBER = 4
    FUNCTION = 5
    UNIT = 6
    PARAM = 7
    OPERATOR = 8
    END = 9


@dataclass(slots=True)
class Token:
    """One token: `canon` is what the parser reads, `value` what it means, `start` and `end` where it stood."""

    kind: Kind
    canon: str
    value: str
    start: int
    end: int
    bare: bool = True
    """A name that was neither quoted nor written after a dot."""
    tight: bool = False
    """A function whose parenthesis follows directly."""


@dataclass(slots=True)
class Lexed:
    """A whole statement. The last token is of kind END."""

    sql: str
    tokens: list[Token]
    canonical: str

    def source(self, first: int, end: int) -> str:
        """The agent's text from token `first` up to token `end` (not included)."""
        return self.sql[self.tokens[first].start : self.tokens[end - 1].end]


_IDENT = r"0-9A-Za-z_$\u0080-\U0010ffff"
_TOKEN = re.compile(
    rf"""
      (?P<blank>[ \t\n\v\f\r]+)
    | (?P<runs>/\*M?!)
    | (?P<hint>/\*\+)
    | (?P<comment>--(?=[\x00-\x20\x7f]|\Z)[^\n]*|\#[^\n]*|/\*.*?\*/)
    | (?P<open>/\*)
    | (?P<dotted>(?<=[`{_IDENT}])\.[{_IDENT}]+)
    | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![{_IDENT}]))
    | (?P<word>[{_IDENT}]+)
    | (?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<operator><=>|<=|>=|<>|!=|\|\||&&|[-+*/%(),.;=<>!?])
    """,
    re.VERBOSE | re.DOTALL,
)
_SKIP = re.compile(r"(?:[ \t\n\v\f\r]+|--(?=[\x00-\x20\x7f]|\Z)[^\n]*|\#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SPECIAL_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|0b[01]+|\d+[eE]\d+.*", re.DOTALL)
_NOT_A_NUMBER = re.compile(r"\d+\.\d*|\.\d+")
_NAME_CHARACTER = re.compile(r"[A-Za-z0-9_$]|[^\x00-\x7f]")
_ESCAPE = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_SAME_AS = {"||": "OR", "!=": "<>"}  # `&&` is not AND: BETWEEN does not take it
_PREFIXES = frozenset({"NOT", "!", "-", "+"})
_ENDS_OPERAND = frozenset({Kind.NAME, Kind.STRING, Kind.NUMBER, Kind.PARAM, Kind.UNIT})
_OPERAND_WORDS = frozenset({")", "NULL", "TRUE", "FALSE", "END"})
_TYPED_LITERALS = frozenset({"DATE", "TIME", "TIMESTAMP"})


def lex(sql: str) -> Lexed:
    """Split `sql`. Raise `StatementRefusedError` for whatever the subset has no token for."""
    if "\0" in sql:
        refuse(RefusalCode.CHARACTER, "The statement holds a NUL character; leave it out or pass it in params.")
    if not sql.isascii() and any("\ud800" <= char <= "\udfff" for char in sql):
        refuse(RefusalCode.CHARACTER, "The statement holds half a surrogate pair; write whole characters.")
    return _Lexer(sql).run()


class _Frame:
    """What is open: the statement, a parenthesis or a CASE; and the INTERVALs in it that wait for their unit."""

    __slots__ = ("case", "intervals")

    def __init__(self, case: bool) -> None:
        self.case = case
        self.intervals: list[Token] = []


class _Lexer:
    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.tokens: list[Token] = []
        self.frames = [_Frame(case=False)]
        self.prefixes = 0
        self.params = 0

    def run(self) -> Lexed:
        sql, position, match = self.sql, 0, _TOKEN.match
        while position < len(sql):
            found = match(sql, position)
            if found is None:
                self._unreadable(position)
            kind, end = found.lastgroup, found.end()
            if kind == "word":
                self._word(found.group(), position, end)
            elif kind == "operator":
                self._operator(found.group(), position, end)
            elif kind == "dotted":
                self._add(Kind.OPERATOR, ".", ".", position, position + 1)
                self._name(found.group()[1:], position + 1, end, bare=False)
            elif kind == "number":
                self._add(Kind.NUMBER, "1", found.group(), position, end)
            elif kind == "string":
                self._string(found.group(), position, end)
            elif kind == "quoted":
                self._name(found.group()[1:-1].replace("``", "`"), position, end, bare=False)
            elif kind == "open":
                refuse(RefusalCode.COMMENT, f"The comment {quoted(sql[position:])} is never closed; leave it out.")
            elif kind == "runs":
                refuse(
                    RefusalCode.COMMENT,
                    f"The comment {quoted(sql[position : position + 40])} would be executed; leave it out.",
                )
            elif kind == "hint":
                refuse(
                    RefusalCode.HINT, f"The hint {quoted(sql[position : position + 40])} is not allowed; leave it out."
                )
            position = end
        if len(self.frames) > 1:
            what = "CASE without END" if self.frames[-1].case else "an opening parenthesis without its closing one"
            refuse(RefusalCode.SYNTAX, f"The statement has {what}; close it.")
        self._close_intervals()
        if not self.tokens:
            refuse(RefusalCode.STATEMENT, "The statement is empty; write one SELECT.")
        if self.tokens[0].canon != "SELECT":
            self._not_a_select(self.tokens[0])
        self.tokens.append(Token(Kind.END, "", "", len(sql), len(sql)))
        return Lexed(sql, self.tokens, " ".join(token.canon for token in self.tokens))

    def _add(self, kind: Kind, canon: str, value: str, start: int, end: int, bare: bool = True) -> None:
        if len(self.tokens) >= MAX_TOKENS:
            refuse(RefusalCode.TOO_COMPLEX, f"The statement has more than {MAX_TOKENS} words; ask in several calls.")
        self.prefixes = self.prefixes + 1 if canon in _PREFIXES else 0
        if len(self.frames) + self.prefixes > MAX_DEPTH:
            refuse(
                RefusalCode.TOO_COMPLEX, f"The statement is nested more than {MAX_DEPTH} levels deep; write it flatter."
            )
        self.tokens.append(Token(kind, canon, value, start, end, bare))

    def _after_operand(self) -> bool:
        return bool(self.tokens) and (self.tokens[-1].kind in _ENDS_OPERAND or self.tokens[-1].canon in _OPERAND_WORDS)

    def _name(self, value: str, start: int, end: int, bare: bool) -> None:
        if not value.isprintable():
            odd = next(char for char in value if not char.isprintable())
            refuse(
                RefusalCode.CHARACTER,
                f"The name {quoted(value)} holds the invisible character U+{ord(odd):04X}; write it without.",
            )
        self._add(Kind.NAME, f"`i{len(self.tokens)}`", value, start, end, bare)

    def _word(self, text: str, start: int, end: int) -> None:
        upper, following = text.upper(), self.sql[end : end + 2]
        if text[0].isdigit() and _SPECIAL_NUMBER.fullmatch(text):
            refuse(
                RefusalCode.LITERAL, f"{quoted(text)} is not a plain number; write it in decimal, or pass it in params."
            )
        if following[:1] in ("'", '"') and upper in ("N", "X", "B"):
            refuse(
                RefusalCode.LITERAL, f"{quoted(text + following[:1])} begins a special literal; write a plain string."
            )
        if len(following) == 2 and following[0] == "." and re.match(f"[{_IDENT}]", following[1]):
            self._name(text, start, end, bare=True)
            return
        frame = self.frames[-1]
        if frame.intervals and upper in words.UNITS and self._after_operand():
            interval = frame.intervals.pop()
            interval.canon = "INTERVAL ("
            self._add(Kind.UNIT, f") {upper}", upper, start, end)
        elif frame.case and upper == "END" and self._after_operand():
            self._close_intervals()
            self.frames.pop()
            self._add(Kind.KEYWORD, "END", "END", start, end)
        elif upper == "ESCAPE" and self._after_operand() and self.sql[_skip(self.sql, end) :][:1] in ("'", '"', "?"):
            self._add(Kind.KEYWORD, "ESCAPE", "ESCAPE", start, end)
        elif upper in words.KEYWORDS or upper in words.RESERVED:
            self._reserved(text, upper, start, end)
        else:
            self._free_word(text, upper, start, end)

    def _free_word(self, text: str, upper: str, start: int, end: int) -> None:
        before = self.tokens[-1].canon if self.tokens else ""
        if upper in words.SELECT_MODIFIERS and before == "SELECT":
            refuse(*words.REASONS[upper])
        if upper in words.NO_BARE_ALIAS and self._after_operand():
            refuse(RefusalCode.ALIAS, f"{quoted(text)} cannot follow here; write AS before an alias.")
        if upper == "FULL" and before != "AS" and re.match(r"(OUTER|JOIN)\b", self.sql[_skip(self.sql, end) :], re.I):
            refuse(RefusalCode.JOIN, "FULL JOIN is not allowed (MariaDB reads FULL as an alias); write LEFT JOIN.")
        self._name(text, start, end, bare=True)

    def _reserved(self, text: str, upper: str, start: int, end: int) -> None:
        call = self.sql[_skip(self.sql, end) :][:1] == "("
        if call and upper in CATALOGUE and not (upper == "MOD" and self._after_operand()):
            self._name(text, start, end, bare=True)
            return
        if upper in words.RESERVED:
            general = (
                RefusalCode.KEYWORD,
                "It is reserved and outside what may be used; as a name, put it in backticks.",
            )
            if not self.tokens:
                general = (RefusalCode.STATEMENT, "Only one plain SELECT statement can run here.")
            elif call:
                general = (RefusalCode.FUNCTION, "This function is not allowed; use one of the allowed ones.")
            code, message = words.REASONS.get(upper, general)
            refuse(code, f"{quoted(text)}: {message}")
        if upper == "CASE":
            self.frames.append(_Frame(case=True))
        self._add(Kind.KEYWORD, "%" if upper == "MOD" else upper, upper, start, end)
        if upper == "INTERVAL":
            self.frames[-1].intervals.append(self.tokens[-1])

    def _operator(self, text: str, start: int, end: int) -> None:
        if text == "(":
            self._open_parenthesis(start, end)
        elif text == ")":
            self._close_intervals()
            if len(self.frames) == 1 or self.frames[-1].case:
                refuse(RefusalCode.SYNTAX, "The statement has a closing parenthesis without its opening one.")
            self.frames.pop()
            self._add(Kind.OPERATOR, ")", ")", start, end)
        elif text == ";":
            if _skip(self.sql, end) < len(self.sql):
                refuse(
                    RefusalCode.MULTIPLE_STATEMENTS, "Only one statement can run in a call; leave out what follows `;`."
                )
        elif text == "?":
            if _NAME_CHARACTER.match(self.sql, end):
                refuse(RefusalCode.PARAMS, "A word stands close behind `?`; put a blank between them.")
            self._add(Kind.PARAM, "?", str(self.params), start, end)
            self.params += 1
        else:
            if text == ",":
                self._close_intervals()
            same = _SAME_AS.get(text, text)
            self._add(Kind.KEYWORD if same.isalpha() else Kind.OPERATOR, same, text, start, end)

    def _open_parenthesis(self, start: int, end: int) -> None:
        before = self.tokens[-1] if self.tokens else None
        if before is not None and before.kind is Kind.NAME:
            if len(self.tokens) > 1 and self.tokens[-2].canon == ".":
                refuse(
                    RefusalCode.FUNCTION, f"{quoted(before.value)} after a dot is a stored function; call a plain one."
                )
            before.kind, before.canon = Kind.FUNCTION, before.canon[1:-1].replace("i", "f")
            before.tight = before.end == start
        self._add(Kind.OPERATOR, "(", "(", start, end)
        self.frames.append(_Frame(case=False))

    def _close_intervals(self) -> None:
        if self.frames[-1].intervals:
            refuse(RefusalCode.INTERVAL, "INTERVAL needs an amount and a unit, such as `INTERVAL 30 MINUTE`.")

    def _string(self, text: str, start: int, end: int) -> None:
        quote = text[0]
        value = text[1:-1]
        if "\\" in value or quote in value:
            value = _ESCAPE.sub(lambda found: _unescape(found, quote), value)
        before = self.tokens[-1] if self.tokens else None
        if before is not None and before.kind is Kind.STRING:  # 'a' 'b' is one string
            before.value += value
            before.end = end
            return
        if before is not None and before.kind is Kind.NAME and before.bare:
            if before.value.startswith("_"):
                refuse(RefusalCode.LITERAL, f"{quoted(before.value)} sets a character set; write the plain string.")
            if before.value.upper() in _TYPED_LITERALS:
                refuse(
                    RefusalCode.LITERAL,
                    f"{quoted(before.value)} before a string is not allowed; write the plain string.",
                )
        self._add(Kind.STRING, f"'s{len(self.tokens)}'", value, start, end)

    def _not_a_select(self, first: Token) -> NoReturn:
        if first.canon == "(":
            refuse(RefusalCode.SUBQUERY, "The statement begins with a parenthesis; write the SELECT without it.")
        refuse(
            RefusalCode.STATEMENT, f"The statement begins with {quoted(first.value)}; only one plain SELECT can run."
        )

    def _unreadable(self, position: int) -> NoReturn:
        char, rest = self.sql[position], quoted(self.sql[position : position + 40])
        if char in "'\"`":
            refuse(RefusalCode.SYNTAX, f"The quote before {rest} is never closed; close it.")
        if char in "@":
            refuse(RefusalCode.VARIABLE, f"Variables such as {rest} are not allowed; pass the value in params.")
        if char == ":":
            refuse(RefusalCode.OPERATOR, f"{rest}: write `?` for a parameter; assignments are not allowed.")
        if char in "&|^~":
            refuse(
                RefusalCode.OPERATOR, f"The bit operator {quoted(char)} is not allowed; write AND, OR, or a comparison."
            )
        if char == "\\":
            refuse(RefusalCode.LITERAL, f"{rest} is not allowed; write NULL.")
        if _NOT_A_NUMBER.match(self.sql, position):
            refuse(RefusalCode.LITERAL, f"{rest} is not a plain number; put a blank after the number.")
        refuse(RefusalCode.CHARACTER, f"The character U+{ord(char):04X} has no meaning here; leave it out or quote it.")


def _skip(sql: str, position: int) -> int:
    """Where the next token begins."""
    found = _SKIP.match(sql, position)
    return found.end() if found else position


def _unescape(found: re.Match[str], quote: str) -> str:
    char = found.group(1)
    if char is None:
        return quote if found.group()[0] == quote else found.group()
    return _ESCAPES.get(char, char)
