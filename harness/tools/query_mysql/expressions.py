"""Proves expressions: each node of the parsed tree is of a known kind, has only known parts, and stands
where the statement's own tokens say.

The walk goes through tree and tokens side by side. A node that the parser dropped, invented or moved no
longer fits the tokens and is refused. Operators are checked against MariaDB's precedence: a tree whose
operands bind as MariaDB binds them is the tree that MariaDB builds, so it is rendered with the
parentheses that the agent wrote and no others. Where only binary operators meet, MariaDB can read any
order of them and the rendering has the agent's order; only ON must be understood as MariaDB does, because
what joins two tables depends on it.
"""

import math
from collections.abc import Callable
from typing import Any, NoReturn

from sqlglot import exp

from harness.tools.query_mysql import render
from harness.tools.query_mysql.lexer import Kind
from harness.tools.query_mysql.operands import PRIMARY, OperandProver, Proved
from harness.tools.query_mysql.refusal import RefusalCode, quoted, refuse
from harness.tools.query_mysql.walk import NO_SUBQUERY, only, some, unsupported

INTERVAL_LEVEL = -1
OR, XOR, AND, NOT, COMPARISON, PREDICATE, SUM, PRODUCT, UNARY = range(1, PRIMARY)
"""How tightly MariaDB binds, from its grammar (`sql_yacc.yy`, without bit operators)."""

BINARY: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Or: ("OR", OR),
    exp.Xor: ("XOR", XOR),
    exp.And: ("AND", AND),
    exp.EQ: ("=", COMPARISON),
    exp.NEQ: ("<>", COMPARISON),
    exp.NullSafeEQ: ("<=>", COMPARISON),
    exp.LT: ("<", COMPARISON),
    exp.LTE: ("<=", COMPARISON),
    exp.GT: (">", COMPARISON),
    exp.GTE: (">=", COMPARISON),
    exp.Add: ("+", SUM),
    exp.Sub: ("-", SUM),
    exp.Mul: ("*", PRODUCT),
    exp.Div: ("/", PRODUCT),
    exp.IntDiv: ("DIV", PRODUCT),
    exp.Mod: ("%", PRODUCT),
}

_INTERVAL_ALONE = "INTERVAL may only be added to or subtracted from a time; write NOW() - INTERVAL 1 DAY."
_THIS = frozenset({"this"})
_THIS_EXPRESSION = frozenset({"this", "expression"})
_BINARY_PARTS = frozenset({"this", "expression", "safe", "typed"})
_BETWEEN_PARTS = frozenset({"this", "low", "high"})
_IN_PARTS = frozenset({"this", "expressions"})
_LIKE_PARTS = frozenset({"this", "expression", "negate"})
_CASE_PARTS = frozenset({"this", "ifs", "default"})
_IF_PARTS = frozenset({"this", "true"})
_INTERVAL_PARTS = frozenset({"this", "unit"})


class ExpressionProver(OperandProver):
    """The walk over one statement's expressions."""

    def value(self, node: exp.Expr) -> str:
        """An expression that stands alone."""
        text, level = self.prove(node)
        if level == INTERVAL_LEVEL:
            refuse(RefusalCode.INTERVAL, _INTERVAL_ALONE)
        return text

    def prove(self, node: exp.Expr) -> Proved:
        while self.tokens[self.at].canon == "+":  # unary plus: the parser drops it, and it does nothing
            self.at += 1
        if type(node) in BINARY:
            return self._binary(node)
        handler = _HANDLERS.get(type(node))
        if handler is None:
            unsupported(node, self.lexed.sql[self.next.start :])
        return handler(self, node)

    def operand(self, node: exp.Expr, least: int) -> str:
        """An operand that must bind at least so tightly."""
        text, level = self.prove(node)
        if level < least:
            self._unclear(text, level)
        return text

    def _unclear(self, text: str, level: int) -> NoReturn:
        if level == INTERVAL_LEVEL:
            refuse(RefusalCode.INTERVAL, _INTERVAL_ALONE)
        shown = render.without_literals(text)
        refuse(
            RefusalCode.PRECEDENCE, f"How {quoted(shown)} binds to its neighbours is unclear; put it in parentheses."
        )

    def _binary(self, node: exp.Expr) -> Proved:
        chain: list[exp.Expr] = []  # long AND chains lean to the left: a loop, so that they cannot exhaust the stack
        while type(node) in BINARY:
            chain.append(node)
            node = node.args["this"]
        text, level = self.prove(node)
        parts, first = [text], True
        for operator in reversed(chain):
            only(operator, _BINARY_PARTS)
            word, binds = BINARY[type(operator)]
            right = operator.args["expression"]
            shift = binds == SUM and isinstance(right, exp.Interval)
            added_to = level == INTERVAL_LEVEL and isinstance(operator, exp.Add) and not shift
            if level < binds and not added_to and (first or self.clause == "ON"):
                self._unclear(" ".join(parts), level)
            if not (word == "AND" and self.accept("&&")):
                self.take(word)
            text, level = self.prove(right)
            if level <= binds and not shift and (type(right) not in BINARY or self.clause == "ON"):
                self._unclear(text, level)
            parts += (word, text)
            level, first = (binds if shift else min(binds, level)), False
        return " ".join(parts), level

    def _not(self, node: exp.Expr) -> Proved:
        only(node, _THIS)
        inner = node.args["this"]
        if self.accept("NOT"):
            return f"NOT {self.operand(inner, NOT)}", NOT
        if self.accept("!"):
            return f"(NOT {self.operand(inner, UNARY)})", PRIMARY
        handler = _NEGATABLE.get(type(inner))
        if handler is None:
            unsupported(node, self.lexed.sql[self.next.start :])
        return handler(self, inner, True)

    def _negative(self, node: exp.Expr) -> Proved:
        only(node, _THIS)
        self.take("-")
        text = self.operand(node.args["this"], UNARY)
        return (f"- {text}" if text.startswith("-") else f"-{text}"), UNARY

    def _parenthesis(self, node: exp.Expr) -> Proved:
        only(node, _THIS)
        if not self.accept("("):  # the parser's own, around `!x` and before IS
            return self.prove(node.args["this"])
        text = self.value(node.args["this"])
        self.take(")")
        return f"({text})", PRIMARY

    def _between(self, node: exp.Expr, negated: bool = False) -> Proved:
        only(node, _BETWEEN_PARTS)
        text = self.operand(node.args["this"], PREDICATE)
        word = self._negatable_word("BETWEEN", negated)
        low = self.operand(node.args["low"], SUM)
        self.take("AND")
        return f"{text} {word} {low} AND {self.operand(node.args['high'], SUM)}", PREDICATE

    def _in(self, node: exp.Expr, negated: bool = False) -> Proved:
        if node.args.get("query") is not None:
            refuse(RefusalCode.SUBQUERY, NO_SUBQUERY)
        only(node, _IN_PARTS)
        text = self.operand(node.args["this"], PREDICATE)
        word = self._negatable_word("IN", negated)
        self.take("(")
        return f"{text} {word} ({', '.join(self._list(some(node.expressions, 'IN (')))})", PREDICATE

    def _like(self, node: exp.Expr, negated: bool = False) -> Proved:
        only(node, _LIKE_PARTS)
        text = self.operand(node.args["this"], PREDICATE)
        word = self._negatable_word("LIKE", negated or bool(node.args.get("negate")))
        return f"{text} {word} {self.operand(node.args['expression'], SUM)}", PREDICATE

    def _escape(self, node: exp.Expr, negated: bool = False) -> Proved:
        only(node, _THIS_EXPRESSION)
        like, sign = node.args["this"], node.args["expression"]
        if not isinstance(like, exp.Like):
            unsupported(node, self.lexed.sql[self.next.start :])
        text, _ = self._like(like, negated)
        self.take("ESCAPE")
        if self.next.kind is not Kind.STRING or len(self.next.value) > 1:
            refuse(RefusalCode.LITERAL, "ESCAPE takes a string of one character, such as ESCAPE '!'.")
        # Another predicate behind it would belong to the character for MariaDB.
        return f"{text} ESCAPE {self.value(sign)}", COMPARISON

    def _is(self, node: exp.Expr, negated: bool = False) -> Proved:
        only(node, _THIS_EXPRESSION)
        text = self.operand(self._before_is(node.args["this"]), COMPARISON)
        self.take("IS")
        word = self._negatable_word("NULL", negated)
        if not isinstance(node.args["expression"], exp.Null):
            refuse(RefusalCode.OPERATOR, "IS may only be followed by NULL or NOT NULL; write a comparison with =.")
        return f"{text} IS {word}", COMPARISON

    def _before_is(self, node: exp.Expr) -> exp.Expr:
        """The left operand without the parentheses that the parser puts around a comparison there."""
        if not isinstance(node, exp.Paren) or self.next.canon != "(":
            return node
        at, depth = self.at, 0
        while self.tokens[at].kind is not Kind.END:
            depth += {"(": 1, ")": -1}.get(self.tokens[at].canon, 0)
            at += 1
            if depth == 0:
                break
        own = self.tokens[at].canon in ("IS", ")")  # the agent's: they enclose the whole operand
        return node if own else node.args["this"]

    def _negatable_word(self, word: str, negated: bool) -> str:
        if negated:
            self.take("NOT")
        if self.next.canon != word and word == "NULL":
            refuse(RefusalCode.OPERATOR, "IS may only be followed by NULL or NOT NULL; write a comparison with =.")
        self.take(word)
        return f"NOT {word}" if negated else word

    def _case(self, node: exp.Expr) -> Proved:
        only(node, _CASE_PARTS)
        self.take("CASE")
        parts = ["CASE"]
        if node.args.get("this") is not None:
            parts.append(self.value(node.args["this"]))
        for branch in node.args["ifs"]:
            only(branch, _IF_PARTS)
            self.take("WHEN")
            parts += ("WHEN", self.value(branch.args["this"]))
            self.take("THEN")
            parts += ("THEN", self.value(branch.args["true"]))
        if node.args.get("default") is not None:
            self.take("ELSE")
            parts += ("ELSE", self.value(node.args["default"]))
        self.take("END")
        return " ".join([*parts, "END"]), PRIMARY

    def _interval(self, node: exp.Expr) -> Proved:
        only(node, _INTERVAL_PARTS)
        self.take("INTERVAL (")  # the lexer puts the amount in parentheses and makes sure of the unit
        amount = node.args["this"]
        if not isinstance(amount, exp.Paren):
            self.mismatch()
        text, level = self.prove(amount.args["this"])
        if level == INTERVAL_LEVEL:
            refuse(RefusalCode.INTERVAL, _INTERVAL_ALONE)
        unit = self.next
        if unit.kind is not Kind.UNIT:
            self.mismatch()
        self.at += 1
        simple = level == PRIMARY and text[0] in (render.LITERAL, render.PARAM, "(")
        return f"INTERVAL {text if simple else f'({text})'} {unit.value}", INTERVAL_LEVEL

    def _literal(self, node: exp.Expr) -> Proved:
        token = self.next
        if node.args.get("is_string"):
            self.take_leaf(Kind.STRING, f"'{node.this}'")
            text = render.string(token.value)
        else:
            self.take_leaf(Kind.NUMBER, node.this)
            text = token.value
            if not math.isfinite(float(text)):
                refuse(
                    RefusalCode.LITERAL, f"{quoted(text)} is larger than any number of MariaDB's; write a smaller one."
                )
        self.literals.append(text)
        return render.mark(render.LITERAL, len(self.literals) - 1), PRIMARY

    def _null(self, node: exp.Expr) -> Proved:
        self.take("NULL")
        return "NULL", PRIMARY

    def _boolean(self, node: exp.Expr) -> Proved:
        word = "TRUE" if node.this else "FALSE"
        self.take(word)
        return word, PRIMARY

    def _placeholder(self, node: exp.Expr) -> Proved:
        only(node, frozenset())
        token = self.take_leaf(Kind.PARAM, "?")
        return render.mark(render.PARAM, int(token.value)), PRIMARY


_HANDLERS: dict[type[Any], Callable[[ExpressionProver, Any], Proved]] = {
    exp.Column: ExpressionProver.prove_column,
    exp.Literal: ExpressionProver._literal,
    exp.Placeholder: ExpressionProver._placeholder,
    exp.Anonymous: ExpressionProver.prove_call,
    exp.Paren: ExpressionProver._parenthesis,
    exp.Not: ExpressionProver._not,
    exp.Neg: ExpressionProver._negative,
    exp.Between: ExpressionProver._between,
    exp.In: ExpressionProver._in,
    exp.Like: ExpressionProver._like,
    exp.Escape: ExpressionProver._escape,
    exp.Is: ExpressionProver._is,
    exp.Case: ExpressionProver._case,
    exp.Interval: ExpressionProver._interval,
    exp.Null: ExpressionProver._null,
    exp.Boolean: ExpressionProver._boolean,
}
_NEGATABLE: dict[type[Any], Callable[[ExpressionProver, Any, bool], Proved]] = {
    exp.Between: ExpressionProver._between,
    exp.In: ExpressionProver._in,
    exp.Like: ExpressionProver._like,
    exp.Escape: ExpressionProver._escape,
    exp.Is: ExpressionProver._is,
}
