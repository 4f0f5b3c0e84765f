"""Proves names and function calls: what each column means, and that each function may be called that way."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TypeAlias

from sqlglot import exp

from harness.tools.query_mysql import render, words
from harness.tools.query_mysql.functions import Function, Shape, Spelling
from harness.tools.query_mysql.lexer import Kind, Lexed, Token
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import RefusalCode, quoted, refuse
from harness.tools.query_mysql.scope import ColumnUse, Scope, SelectItem
from harness.tools.query_mysql.walk import NO_WILDCARD, TokenWalk, only, unsupported

PRIMARY = 10
"""How tightly a name, a call or a parenthesis binds: nothing binds tighter."""

Proved: TypeAlias = tuple[str, int]
"""A rendered fragment and how tightly it binds."""
Meaning: TypeAlias = ColumnUse | SelectItem

_EXPRESSIONS = frozenset({"expressions"})
_THIS_EXPRESSIONS = frozenset({"this", "expressions"})
_COLUMN_PARTS = frozenset({"this", "table", "db"})


class OperandProver(TokenWalk, ABC):
    """Names and calls. State: what the current clause allows, and what was met on the way."""

    def __init__(self, lexed: Lexed, policy: Policy, scope: Scope) -> None:
        super().__init__(lexed)
        self.policy, self.scope = policy, scope
        self.literals: list[str] = []
        self.clause = "SELECT"
        self.name_rule: Callable[[list[str]], Meaning] = scope.column
        self.aggregates_allowed = True
        self.in_aggregate = False
        self.aggregate_seen = False
        self.redacted_seen = False
        self.meanings: dict[int, ColumnUse] = {}
        """Which column each Column node means, by the node's identity; ON asks for it."""

    @abstractmethod
    def value(self, node: exp.Expr) -> str:
        """An expression that stands alone."""

    @abstractmethod
    def prove(self, node: exp.Expr) -> Proved:
        """Any expression."""

    # Names

    def name_parts(self, node: exp.Expr, keys: Iterable[str]) -> list[str]:
        """The names of a dotted node, read from its tokens."""
        parts: list[str] = []
        for key in keys:
            identifier = node.args.get(key)
            if identifier is None:
                continue
            if not isinstance(identifier, exp.Identifier):
                unsupported(identifier, self.lexed.sql[self.next.start :])
            if parts:
                self.take(".")
            parts.append(self.take_leaf(Kind.NAME, f"`{identifier.this}`").value)
        return parts

    def prove_column(self, node: exp.Expr) -> Proved:
        if isinstance(node.this, exp.Star):
            refuse(RefusalCode.WILDCARD, NO_WILDCARD)
        only(node, _COLUMN_PARTS)
        meaning = self.name_rule(self.name_parts(node, ("db", "table", "this")))
        return self.render_name(node, meaning)

    def render_name(self, node: exp.Expr, meaning: Meaning) -> Proved:
        """A column, qualified; an alias of an expression as its name in HAVING, as the expression elsewhere."""
        if isinstance(meaning, ColumnUse):
            self.meanings[id(node)] = meaning
            self.redacted_seen = self.redacted_seen or self.scope.is_redacted(meaning)
            return self.scope.use(meaning), PRIMARY
        self.redacted_seen = self.redacted_seen or meaning.redacted
        if self.clause == "HAVING" and not self.in_aggregate:
            if not meaning.aliased:
                refuse(RefusalCode.ALIAS, f"{quoted(meaning.name)} has no alias; give it one to use it in HAVING.")
            return render.name(meaning.name), PRIMARY
        return f"({meaning.text})", PRIMARY

    # Functions

    def prove_call(self, node: exp.Expr) -> Proved:
        only(node, _THIS_EXPRESSIONS)
        if not isinstance(node.this, str):
            unsupported(node, self.lexed.sql[self.next.start :])
        token = self.take_leaf(Kind.FUNCTION, node.this)
        function = self._allowed(token)
        self.take("(")
        if function.shape is Shape.AGGREGATE:
            return self._aggregate(function, node.expressions)
        if function.shape is Shape.UNIT_FIRST:
            arguments = self._unit_and_rest(function, node.expressions)
        elif function.shape is Shape.DATE_SHIFT:
            arguments = self._date_shift(function, node.expressions)
        else:
            if function.shape is Shape.PRECISION and self.next.canon != ")":
                self._check_precision(function)
            arguments = self._list(node.expressions)
        self._check_count(function, len(arguments))
        return f"{function.name}({', '.join(arguments)})", PRIMARY

    def _allowed(self, token: Token) -> Function:
        function = allowed_function(token, self.policy)
        if function.spelling is Spelling.TIGHT and not token.tight:
            refuse(RefusalCode.FUNCTION, f"MariaDB takes no blank after {function.name}; write {function.name}(...).")
        if function.spelling is not Spelling.NATIVE and not token.bare:
            refuse(
                RefusalCode.FUNCTION,
                f"{quoted(token.value)} in backticks is a stored function; write {function.name}(...).",
            )
        return function

    def _list(self, nodes: list[exp.Expr]) -> list[str]:
        """Expressions separated by commas, up to and with the closing parenthesis."""
        texts: list[str] = []
        for index, node in enumerate(nodes):
            if index:
                self.take(",")
            texts.append(self.value(node))
        self.take(")")
        return texts

    def _aggregate(self, function: Function, nodes: list[exp.Expr]) -> Proved:
        if not self.aggregates_allowed:
            refuse(
                RefusalCode.AGGREGATE,
                f"{function.name} cannot stand in {self.clause}; use HAVING for conditions on it.",
            )
        if self.in_aggregate:
            refuse(RefusalCode.AGGREGATE, f"{function.name} stands inside another aggregate; use one at a time.")
        outer_rule, self.name_rule = self.name_rule, self._inside_aggregate_rule()
        redacted, self.in_aggregate = self.redacted_seen, True
        if len(nodes) == 1 and isinstance(nodes[0], exp.Star):
            arguments = self._star(function, nodes[0])
        elif len(nodes) == 1 and isinstance(nodes[0], exp.Distinct):
            only(nodes[0], _EXPRESSIONS)
            self.take("DISTINCT")
            arguments = self._list(nodes[0].expressions)
            self._check_count(function, 1 if function.name == "COUNT" and arguments else len(arguments))
            arguments[0] = f"DISTINCT {arguments[0]}"
        else:
            arguments = self._list(nodes)
            self._check_count(function, len(arguments))
        self.name_rule, self.in_aggregate, self.aggregate_seen = outer_rule, False, True
        if function.name == "COUNT":  # how many says nothing of the values
            self.redacted_seen = redacted
        return f"{function.name}({', '.join(arguments)})", PRIMARY

    def _inside_aggregate_rule(self) -> Callable[[list[str]], Meaning]:
        if self.clause in ("HAVING", "ORDER BY"):
            clause = self.clause
            return lambda parts: self.scope.in_expression(parts, clause)
        return self.name_rule

    def _star(self, function: Function, star: exp.Expr) -> list[str]:
        only(star, frozenset())
        if function.name != "COUNT":
            refuse(RefusalCode.WILDCARD, f"{function.name}(*) is not allowed; name a column.")
        self.take("*")
        self.take(")")
        return ["*"]

    def _unit_and_rest(self, function: Function, nodes: list[exp.Expr]) -> list[str]:
        unit = self.next
        name = unit.value.upper().removeprefix("SQL_TSI_")
        if unit.kind is not Kind.NAME or not unit.bare or name not in words.SIMPLE_UNITS or len(nodes) < 2:
            refuse(RefusalCode.FUNCTION, f"{function.name} begins with a unit, such as {function.name}(SECOND, a, b).")
        if not isinstance(nodes[0], exp.Column) or nodes[0].this.this != unit.canon[1:-1]:
            self.mismatch()
        self.at += 1
        self.take(",")
        return [name, *self._list(nodes[1:])]

    def _date_shift(self, function: Function, nodes: list[exp.Expr]) -> list[str]:
        if len(nodes) != 2 or not isinstance(nodes[1], exp.Interval):
            refuse(RefusalCode.INTERVAL, f"Write {function.name}(time, INTERVAL 30 MINUTE).")
        first = self.value(nodes[0])
        self.take(",")
        second, _ = self.prove(nodes[1])
        self.take(")")
        return [first, second]

    def _check_precision(self, function: Function) -> None:
        token = self.next
        if token.kind is not Kind.NUMBER or token.value not in {"0", "1", "2", "3", "4", "5", "6"}:
            refuse(RefusalCode.FUNCTION, f"{function.name} takes nothing, or a precision from 0 to 6.")

    def _check_count(self, function: Function, count: int) -> None:
        if count < function.least or (function.most is not None and count > function.most):
            most = "or more" if function.most is None else f"to {function.most}"
            takes = str(function.least) if function.least == function.most else f"{function.least} {most}"
            refuse(RefusalCode.FUNCTION, f"{function.name} takes {takes} arguments, not {count}.")


def allowed_function(token: Token, policy: Policy) -> Function:
    """The function that a token names. Refuse one that is not in the allowlist."""
    function = policy.functions.get(token.value.upper())
    if function is None:
        refuse(
            RefusalCode.FUNCTION,
            f"The function {quoted(token.value)} is not allowed; allowed are {policy.function_names()}.",
        )
    return function
