"""Proves the clauses of one SELECT, in the order in which they are written."""

from collections.abc import Callable, Sequence
from typing import NoReturn

from sqlglot import exp

from harness.tools.query_mysql import render
from harness.tools.query_mysql.config import METADATA_SCHEMAS
from harness.tools.query_mysql.expressions import ExpressionProver
from harness.tools.query_mysql.lexer import Kind, Lexed, Token
from harness.tools.query_mysql.operands import Meaning
from harness.tools.query_mysql.policy import AllowedTable, Policy
from harness.tools.query_mysql.refusal import RefusalCode, StatementRefusedError, quoted, refuse
from harness.tools.query_mysql.scope import ColumnUse, Scope, ScopeTable, SelectItem
from harness.tools.query_mysql.walk import only, some, unsupported

MAX_LIMIT = (1 << 64) - 1
MAX_ALIAS_CHARS = 256
MAX_COLUMNS = 100

_SELECT_PARTS = frozenset(
    {"expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
)
_THIS = frozenset({"this"})
_EXPRESSION = frozenset({"expression"})
_EXPRESSIONS = frozenset({"expressions"})
_ALIAS_PARTS = frozenset({"this", "alias"})
_TABLE_PARTS = frozenset({"this", "db", "alias"})
_JOIN_PARTS = frozenset({"this", "side", "kind", "on"})
_ORDERED_PARTS = frozenset({"this", "desc", "nulls_first"})
_JOINS = {("", ""): "INNER", ("", "INNER"): "INNER", ("LEFT", ""): "LEFT", ("LEFT", "OUTER"): "LEFT"}
_RELATIONS = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like)
_NO_ON = (
    "Joins need an ON condition that compares a column of {} with a column of another table, such as ON a.id = b.a_id."
)


class StatementProver(ExpressionProver):
    """The walk over a whole statement. After `run`, `conditions` and `scope` tell what it reads."""

    def __init__(self, lexed: Lexed, params: Sequence[object], policy: Policy) -> None:
        super().__init__(lexed, policy, Scope())
        self.params = params
        self.conditions: list[str] = []
        self.sources: list[str] = []
        """The agent's text of each select item, without its alias."""

    def run(self, tree: exp.Expr) -> str:
        """Prove the tree of a whole statement and render it, with marks for literals and parameters."""
        if not isinstance(tree, exp.Select):
            unsupported(tree, "")
        self._sees_only_known_parts(tree)
        tables = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or ())]
        for table in tables:
            self.scope.add_table(self._scope_table(table))
        parts = [self._select_list(tree), self._from(tree)]
        for key, prove in (
            ("where", self._where),
            ("group", self._group_by),
            ("having", self._having),
            ("order", self._order_by),
        ):
            clause = tree.args.get(key)
            if clause is not None:
                parts.append(prove(clause))
        parts.append(self._limit(tree))
        if self.next.kind is not Kind.END:
            self.mismatch()
        return " ".join(parts)

    def _sees_only_known_parts(self, tree: exp.Select) -> None:
        only(tree, _SELECT_PARTS)
        source = tree.args.get("from_")
        if source is None:
            refuse(
                RefusalCode.TABLE, f"The statement reads no table; write FROM with one of {self.policy.table_names()}."
            )
        only(source, _THIS)

    def _enter(self, clause: str, rule: Callable[[list[str]], Meaning], aggregates: bool) -> None:
        self.clause, self.name_rule, self.aggregates_allowed = clause, rule, aggregates

    # Tables

    def _token_of(self, identifier: object) -> Token:
        """The token behind a name in the tree; its stand-in is its number."""
        if isinstance(identifier, exp.Identifier) and identifier.this[1:].isdecimal():
            token = self.tokens[int(identifier.this[1:])]
            if token.kind is Kind.NAME and token.canon == f"`{identifier.this}`":
                return token
        raise StatementRefusedError(RefusalCode.TABLE, "FROM and JOIN take plain table names; name an allowed table.")

    def _scope_table(self, node: exp.Expr) -> ScopeTable:
        if not isinstance(node, exp.Table):
            unsupported(node, "")
        if node.args.get("joins"):
            refuse(RefusalCode.JOIN, "Joins cannot be nested; give each JOIN its ON before the next one.")
        only(node, _TABLE_PARTS)
        schema = self._token_of(node.args["db"]).value if node.args.get("db") else self.policy.default_schema
        name = self._token_of(node.this).value
        allowed = self.policy.tables.get((schema, name))
        if allowed is None:
            self._unknown_table(schema, name, node.args.get("db") is not None)
        alias = node.args.get("alias")
        if alias is None:
            return ScopeTable(allowed, name, aliased=False)
        only(alias, _THIS)
        token = self._token_of(alias.this)
        self._check_alias(token.value)
        return ScopeTable(allowed, token.value, aliased=True)

    def _unknown_table(self, schema: str, name: str, qualified: bool) -> NoReturn:
        written = quoted(f"{schema}.{name}" if qualified else name)
        if schema.lower() in METADATA_SCHEMAS:
            refuse(
                RefusalCode.TABLE, f"{written} is metadata, which cannot be read; use the names that you were given."
            )
        same = [
            t for (s, n), t in self.policy.tables.items() if (s.lower(), n.lower()) == (schema.lower(), name.lower())
        ]
        if same:
            refuse(RefusalCode.TABLE, f"The table {written} is not known: case matters; write {same[0].full_name}.")
        refuse(RefusalCode.TABLE, f"The table {written} may not be read; allowed are {self.policy.table_names()}.")

    def _check_alias(self, text: str) -> None:
        if not text or text != text.strip() or not text.isprintable() or len(text) > MAX_ALIAS_CHARS:
            refuse(
                RefusalCode.ALIAS,
                f"The alias {quoted(text)} is empty, too long, or has blanks around it; write a plain one.",
            )
        if any(char > "\uffff" for char in text):
            refuse(
                RefusalCode.ALIAS,
                f"The alias {quoted(text)} holds a character that MariaDB has not in names; write a plain one.",
            )

    def _table(self, node: exp.Table, table: ScopeTable) -> str:
        self.name_parts(node, ("db", "this"))
        if table.aliased:
            self.accept("AS")
            self.name_parts(node.args["alias"], ("this",))
        rendered = _full_name(table.allowed)
        return f"{rendered} AS {render.name(table.name)}" if table.aliased else rendered

    def _from(self, tree: exp.Select) -> str:
        self.take("FROM")
        tables = self.scope.tables
        parts = ["FROM", self._table(tree.args["from_"].this, tables[0])]
        for index, join in enumerate(tree.args.get("joins") or (), start=1):
            self.scope.tables = tables[: index + 1]  # ON sees the tables to its left and the joined one
            parts.append(self._join(join, index))
        self.scope.tables = tables
        return " ".join(parts)

    def _join(self, join: exp.Join, index: int) -> str:
        if self.next.canon == ",":
            refuse(RefusalCode.JOIN, "Tables separated by commas are not allowed; write JOIN ... ON.")
        only(join, _JOIN_PARTS)
        side, kind = join.args.get("side") or "", join.args.get("kind") or ""
        word = _JOINS.get((side.upper(), kind.upper()))
        if word is None:
            refuse(
                RefusalCode.JOIN, f"{side} {kind} JOIN is not allowed; write INNER JOIN or LEFT JOIN with ON.".lstrip()
            )
        if word == "LEFT":
            self.take("LEFT")
            self.accept("OUTER")
        else:
            self.accept("INNER")
        self.take("JOIN")
        table = self._table(join.this, self.scope.tables[index])
        condition = join.args.get("on")
        if condition is None:
            refuse(RefusalCode.JOIN, _NO_ON.format(self.scope.tables[index].name))
        self.take("ON")
        self._enter("ON", self.scope.column, aggregates=False)
        text = self.value(condition)
        if not self._relates(condition, index):
            refuse(RefusalCode.JOIN, _NO_ON.format(self.scope.tables[index].name))
        self.conditions.append(text)
        return f"{word} JOIN {table} ON {text}"

    def _relates(self, node: exp.Expr, joined: int) -> bool:
        """Whether each row that passes the condition was compared with a row of another table."""
        while isinstance(node, exp.Paren | exp.Not | exp.Escape):
            node = node.this
        if isinstance(node, exp.And):
            while isinstance(node, exp.And):
                if self._relates(node.expression, joined):
                    return True
                node = node.this
            return self._relates(node, joined)
        if isinstance(node, exp.Or | exp.Xor):
            kind = type(node)
            while isinstance(node, kind):
                if not self._relates(node.expression, joined):
                    return False
                node = node.this
            return self._relates(node, joined)
        if isinstance(node, _RELATIONS):
            others = [node.expression]
        elif isinstance(node, exp.Between):
            others = [node.args["low"], node.args["high"]]
        elif isinstance(node, exp.In):
            others = node.expressions
        else:
            return False
        left, right = self._tables_in([node.this]), self._tables_in(others)
        return (joined in left and bool(right - {joined})) or (joined in right and bool(left - {joined}))

    def _tables_in(self, nodes: list[exp.Expr]) -> set[int]:
        columns = (column for node in nodes for column in node.find_all(exp.Column))
        return {self.meanings[id(column)].table for column in columns if id(column) in self.meanings}

    # Select list

    def _select_list(self, tree: exp.Select) -> str:
        self.take("SELECT")
        self._enter("SELECT", self.scope.column, aggregates=True)
        distinct = tree.args.get("distinct")
        if distinct is not None:
            only(distinct, frozenset())
            self.take("DISTINCT")
        if len(tree.expressions) > MAX_COLUMNS:
            refuse(RefusalCode.TOO_COMPLEX, f"More than {MAX_COLUMNS} columns are asked for; name those that you need.")
        texts: list[str] = []
        items: list[SelectItem] = []
        for node in some(tree.expressions, "SELECT"):
            if items:
                self.take(",")
            text, item = self._select_item(node)
            texts.append(text)
            items.append(item)
        self.scope.items = items  # only now: the select list itself sees no aliases
        return f"SELECT {'DISTINCT ' if distinct is not None else ''}{', '.join(texts)}"

    def _select_item(self, node: exp.Expr) -> tuple[str, SelectItem]:
        self.aggregate_seen = self.redacted_seen = False
        first, alias = self.at, None
        if isinstance(node, exp.Alias):
            only(node, _ALIAS_PARTS)
            alias, node = node.args["alias"], node.this
        text = self.value(node)
        source = self.lexed.source(first, self.at)
        self.sources.append(source)
        while isinstance(node, exp.Paren):
            node = node.this
        column = self.meanings.get(id(node))
        name = self._token_of(node.this).value if isinstance(node, exp.Column) and column else source
        if alias is not None:
            self.accept("AS")
            token = self.next
            if token.kind not in (Kind.NAME, Kind.STRING) or token.canon[1:-1] != alias.this:
                self.mismatch()
            self.at += 1
            name = token.value
            self._check_alias(name)
        item = SelectItem(name, alias is not None, text, column, self.aggregate_seen, self.redacted_seen)
        return (f"{text} AS {render.name(name)}" if item.aliased else text), item

    # Conditions, groups, order

    def _where(self, node: exp.Expr) -> str:
        only(node, _THIS)
        self.take("WHERE")
        self._enter("WHERE", self.scope.column, aggregates=False)
        text = self.value(node.this)
        self.conditions.append(text)
        return f"WHERE {text}"

    def _group_by(self, node: exp.Expr) -> str:
        only(node, _EXPRESSIONS)
        self.take("GROUP")
        self.take("BY")
        self._enter("GROUP BY", lambda parts: self.scope.in_expression(parts, "GROUP BY"), aggregates=False)
        texts: list[str] = []
        for item in some(node.expressions, "GROUP BY"):
            if texts:
                self.take(",")
            texts.append(self._standing_alone(item, self.scope.group_name))
        return f"GROUP BY {', '.join(texts)}"

    def _having(self, node: exp.Expr) -> str:
        only(node, _THIS)
        self.take("HAVING")
        self._enter("HAVING", self.scope.having_name, aggregates=True)
        text = self.value(node.this)
        self.conditions.append(text)
        return f"HAVING {text}"

    def _order_by(self, node: exp.Expr) -> str:
        only(node, _EXPRESSIONS)
        self.take("ORDER")
        self.take("BY")
        self._enter("ORDER BY", lambda parts: self.scope.in_expression(parts, "ORDER BY"), aggregates=True)
        texts: list[str] = []
        for ordered in node.expressions:
            if texts:
                self.take(",")
            if not isinstance(ordered, exp.Ordered):
                unsupported(ordered, "")
            only(ordered, _ORDERED_PARTS)
            text = self._standing_alone(ordered.this, self.scope.order_name)
            if ordered.args.get("desc"):
                self.take("DESC")
                text += " DESC"
            else:
                self.accept("ASC")
            texts.append(text)
        return f"ORDER BY {', '.join(texts)}"

    def _standing_alone(self, node: exp.Expr, rule: Callable[[str], Meaning]) -> str:
        """One element of GROUP BY or ORDER BY, where a lone number is a position and a lone name may be an alias."""
        open_parentheses = 0
        while self.next.canon in ("(", "+"):  # neither changes what a lone name or number means
            if self.next.canon == "(":
                if not isinstance(node, exp.Paren):
                    break
                only(node, _THIS)
                node = node.this
                open_parentheses += 1
            self.at += 1
        text = self._alone(node, rule)
        for _ in range(open_parentheses):
            self.take(")")
        if isinstance(node, exp.Column | exp.Literal):
            return text
        return "(" * open_parentheses + text + ")" * open_parentheses

    def _alone(self, node: exp.Expr, rule: Callable[[str], Meaning]) -> str:
        token = self.next
        # MariaDB takes TRUE, and a parameter that the driver fills in, for positions as well.
        constant = node
        while isinstance(constant, exp.Neg | exp.Not | exp.Paren):
            constant = constant.this
        if isinstance(constant, exp.Placeholder | exp.Boolean) or (
            constant is not node and isinstance(constant, exp.Literal)
        ):
            refuse(RefusalCode.PARAMS, f"{self.clause} takes columns, aliases and positions; write one of these.")
        if isinstance(node, exp.Literal) and token.kind is Kind.NUMBER and token.value.isdecimal():
            if not 1 <= int(token.value[:9]) <= len(self.scope.items):
                refuse(
                    RefusalCode.COLUMN, f"{self.clause} {token.value} is no position of the select list; name a column."
                )
            self.at += 1
            return self._position(self.scope.items[int(token.value) - 1])
        if isinstance(node, exp.Column) and node.args.get("table") is None and isinstance(node.this, exp.Identifier):
            only(node, _THIS)
            meaning = rule(self.name_parts(node, ("this",))[0])
            if isinstance(meaning, SelectItem):
                return self._position(meaning)
            self._grouped(meaning)
            return self.render_name(node, meaning)[0]
        text = self.value(node)
        column = self.meanings.get(id(node))
        if column is not None:
            self._grouped(column)
        return text

    def _position(self, item: SelectItem) -> str:
        if self.clause == "GROUP BY" and item.aggregate:
            refuse(
                RefusalCode.AGGREGATE, f"GROUP BY cannot use the aggregate {quoted(item.name)}; filter it with HAVING."
            )
        if item.column is not None:
            self._grouped(item.column)
        return self.scope.position(item)

    def _grouped(self, column: ColumnUse) -> None:
        if self.clause == "GROUP BY":
            self.scope.group_columns.append(column)

    # Limit

    def _limit(self, tree: exp.Select) -> str:
        """LIMIT as written or lowered, as a number: the driver would bind a parameter as it is."""
        most, limit, offset = self.policy.max_rows + 1, None, 0
        node, skip = tree.args.get("limit"), tree.args.get("offset")
        if node is not None:
            only(node, _EXPRESSION)
            self.take("LIMIT")
            limit = self._row_count()
            if self.accept(","):
                limit, offset = self._row_count(), limit
            elif self.accept("OFFSET"):
                offset = self._row_count()
            elif skip is not None:
                self.mismatch()
        elif skip is not None:
            self.mismatch()
        parts = ["LIMIT", self._number(most if limit is None else min(limit, most))]
        if offset:
            parts += ("OFFSET", self._number(offset))
        return " ".join(parts)

    def _number(self, value: int) -> str:
        self.literals.append(str(value))
        return render.mark(render.LITERAL, len(self.literals) - 1)

    def _row_count(self) -> int:
        token = self.next
        value: object = None
        if token.kind is Kind.NUMBER and token.value.isdecimal() and len(token.value) <= 20:
            value = int(token.value)
        elif token.kind is Kind.PARAM:
            value = self.params[int(token.value)]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LIMIT:
            refuse(
                RefusalCode.LIMIT, f"LIMIT and OFFSET take whole numbers, not {quoted(token.value)}; write one, or `?`."
            )
        self.at += 1
        return value


def _full_name(table: AllowedTable) -> str:
    return f"{render.name(table.schema)}.{render.name(table.name)}"
