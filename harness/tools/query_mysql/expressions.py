"""Proves expressions: each node of the parsed tree is of a known kind, has only known parts, and stands
where the statement's own tokens say.

The walk goes through tree and tokens side by side. A node that the parser dropped, invented or moved no
longer fits the tokens and is refused. Operators are checked against MariaDB's precedence: a tree whose
operands bind as MariaDB binds them is the tree that MariaDB builds, so it is rendered with the
parentheses that the agent wrote and no others.
"""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from sqlglot import exp

from harness.tools.query_mysql import render, words
from harness.tools.query_mysql.functions import Function, Shape, Spelling
from harness.tools.query_mysql.lexer import Kind, Lexed, Token
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import RefusalCode, quoted, refuse
from harness.tools.query_mysql.scope import ColumnUse, Scope, SelectItem

INTERVAL_LEVEL = -1
OR, XOR, AND, NOT, COMPARISON, PREDICATE, SUM, PRODUCT, UNARY, PRIMARY = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
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

Proved = tuple[str, int]
"""A rendered fragment and how tightly it binds."""
Meaning = ColumnUse | SelectItem


class ExpressionProver:
    """The walk over one statement's expressions. State: the next token, and what the current clause allows."""

    def __init__(self, lexed: Lexed, policy: Policy, scope: Scope) -> None:
        self.lexed, self.policy, self.scope = lexed, policy, scope
        self.tokens = lexed.tokens
        self.at = 0
        self.literals: list[str] = []
        self.clause = "SELECT"
        self.name_rule: Callable[[list[str]], Meaning] = scope.column
        self.aggregates_allowed = True
        self.in_aggregate = False
        self.aggregate_seen = False
        self.redacted_seen = False
        self.meanings: dict[int, ColumnUse] = {}
        """Which column each Column node means, by the node's identity; ON asks for it."""

    # Tokens

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def accept(self, canon: str) -> bool:
        """Step over the next token if it is this one."""
        if self.tokens[self.at].canon == canon:
            self.at += 1
            return True
        return False

    def take(self, canon: str) -> None:
        """Step over the next token, which must be this one."""
        if self.tokens[self.at].canon != canon:
            self.mismatch()
        self.at += 1

    def take_leaf(self, kind: Kind, canon: str) -> Token:
        token = self.tokens[self.at]
        if token.kind is not kind or token.canon != canon:
            self.mismatch()
        self.at += 1
        return token

    def mismatch(self) -> NoReturn:
        rest = self.lexed.sql[self.next.start :]
        where = f"near {quoted(rest)}" if rest.strip() else "at its end"
        refuse(
            RefusalCode.SYNTAX, f"The statement cannot be read {where}; write it plainly, with parentheses if needed."
        )

    # Expressions

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
        parts = [text]
        for operator in reversed(chain):
            only(operator, _BINARY_PARTS)
            word, binds = BINARY[type(operator)]
            right = operator.args["expression"]
            shift = binds == SUM and isinstance(right, exp.Interval)
            if level < binds and not (level == INTERVAL_LEVEL and isinstance(operator, exp.Add) and not shift):
                self._unclear(" ".join(parts), level)
            if not (word == "AND" and self.accept("&&")):
                self.take(word)
            text, level = self.prove(right)
            if level <= binds and not shift:
                self._unclear(text, level)
            parts += (word, text)
            level = binds
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
        text = self.operand(node.args["this"], SUM)
        word = self._negatable_word("BETWEEN", negated)
        low = self.operand(node.args["low"], SUM)
        self.take("AND")
        return f"{text} {word} {low} AND {self.operand(node.args['high'], SUM)}", PREDICATE

    def _in(self, node: exp.Expr, negated: bool = False) -> Proved:
        if node.args.get("query") is not None:
            refuse(RefusalCode.SUBQUERY, _NO_SUBQUERY)
        only(node, _IN_PARTS)
        text = self.operand(node.args["this"], SUM)
        word = self._negatable_word("IN", negated)
        self.take("(")
        return f"{text} {word} ({', '.join(self._list(node.expressions))})", PREDICATE

    def _like(self, node: exp.Expr, negated: bool = False) -> Proved:
        only(node, _LIKE_PARTS)
        text = self.operand(node.args["this"], SUM)
        word = self._negatable_word("LIKE", negated or bool(node.args.get("negate")))
        return f"{text} {word} {self.operand(node.args['expression'], SUM)}", PREDICATE

    def _escape(self, node: exp.Expr, negated: bool = False) -> Proved:
        only(node, _THIS_EXPRESSION)
        like, sign = node.args["this"], node.args["expression"]
        if not isinstance(like, exp.Like):
            unsupported(node, self.lexed.sql[self.next.start :])
        text, level = self._like(like, negated)
        self.take("ESCAPE")
        if self.next.kind is not Kind.STRING or len(self.next.value) > 1:
            refuse(RefusalCode.LITERAL, "ESCAPE takes a string of one character, such as ESCAPE '!'.")
        return f"{text} ESCAPE {self.value(sign)}", level

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

    def _column(self, node: exp.Expr) -> Proved:
        if isinstance(node.this, exp.Star):
            refuse(RefusalCode.WILDCARD, _NO_WILDCARD)
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

    def _function(self, node: exp.Expr) -> Proved:
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
        function = self.policy.functions.get(token.value.upper())
        if function is None:
            refuse(
                RefusalCode.FUNCTION,
                f"The function {quoted(token.value)} is not allowed; allowed are {self.policy.function_names()}.",
            )
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


def only(node: exp.Expr, known: frozenset[str]) -> None:
    """Refuse a node that has any part beside the known ones."""
    for key, part in node.args.items():
        if part and key not in known:
            if isinstance(part, exp.Expr):
                unsupported(part, "")
            refuse(
                RefusalCode.UNSUPPORTED, f"{type(node).__name__} with {key.strip('_')} is not allowed; leave it out."
            )


def unsupported(node: object, near: str) -> NoReturn:
    """Refuse a node that the subset does not have."""
    for kinds, code, message in _REASONS:
        if isinstance(node, kinds):
            refuse(code, message)
    where = f" near {quoted(near)}" if near.strip() else ""
    refuse(
        RefusalCode.UNSUPPORTED,
        f"{type(node).__name__}{where} is outside what may be used; write plain columns, comparisons and functions.",
    )


_INTERVAL_ALONE = "INTERVAL may only be added to or subtracted from a time; write NOW() - INTERVAL 1 DAY."
_NO_SUBQUERY = "Subqueries are not allowed; join the table, or ask in two calls and pass the values in params."
_NO_WILDCARD = "`*` is not allowed; name the columns that you need (COUNT(*) is fine)."
_REASONS: tuple[tuple[tuple[type[Any], ...], RefusalCode, str], ...] = (
    ((exp.Query, exp.Exists, exp.SubqueryPredicate), RefusalCode.SUBQUERY, _NO_SUBQUERY),
    ((exp.Star,), RefusalCode.WILDCARD, _NO_WILDCARD),
    ((exp.Tuple,), RefusalCode.OPERATOR, "Comparing rows is not allowed; compare each column with AND."),
    ((exp.Alias, exp.Aliases), RefusalCode.ALIAS, "An alias cannot stand here; write it only in the select list."),
    ((exp.Dot,), RefusalCode.FUNCTION, "A name before a function makes it a stored function; call a plain one."),
    ((exp.Join,), RefusalCode.JOIN, "Joins cannot be nested; give each JOIN its ON before the next one."),
)

_THIS = frozenset({"this"})
_EXPRESSIONS = frozenset({"expressions"})
_THIS_EXPRESSION = frozenset({"this", "expression"})
_THIS_EXPRESSIONS = frozenset({"this", "expressions"})
_BINARY_PARTS = frozenset({"this", "expression", "safe", "typed"})
_BETWEEN_PARTS = frozenset({"this", "low", "high"})
_IN_PARTS = frozenset({"this", "expressions"})
_LIKE_PARTS = frozenset({"this", "expression", "negate"})
_CASE_PARTS = frozenset({"this", "ifs", "default"})
_IF_PARTS = frozenset({"this", "true"})
_INTERVAL_PARTS = frozenset({"this", "unit"})
_COLUMN_PARTS = frozenset({"this", "table", "db"})

_HANDLERS: dict[type[Any], Callable[[ExpressionProver, Any], Proved]] = {
    exp.Column: ExpressionProver._column,
    exp.Literal: ExpressionProver._literal,
    exp.Placeholder: ExpressionProver._placeholder,
    exp.Anonymous: ExpressionProver._function,
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
