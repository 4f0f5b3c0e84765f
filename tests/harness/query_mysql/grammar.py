"""Grows statements from a grammar wider than the guard's subset: every construct, right and wrong names.

Driven by one `random.Random`, so that hypothesis can replay and shrink it.
"""

from collections.abc import Callable
from random import Random

from harness.tools.query_mysql.guard import Param

TABLES = (
    "orders",
    "payments",
    "users",
    "inventory",
    "secrets",
    "v_user_contact",
    "ORDERS",
    "hr.salaries",
    "shop.orders",
)
COLUMNS = {
    "orders": ("id", "order_no", "user_id", "status", "amount", "created_at", "updated_at"),
    "payments": ("id", "order_id", "channel", "status", "error_code", "created_at"),
    "users": ("id", "name", "city", "phone", "id_card", "password_hash"),
    "inventory": ("sku", "stock", "updated_at"),
    "secrets": ("id", "name", "secret_value"),
    "v_user_contact": ("id", "name", "phone"),
}
ALIASES = (
    "n",
    "k",
    "status",
    "phone",
    "city",
    "id",
    "total",
    "状态",
    "`select`",
    "'a b'",
    "END",
    "x",
    "HOUR",
    "full",
    "name",
)
STRINGS = (
    "'PAID'",
    "'it''s'",
    "'a\\'b'",
    '"FAILED"',
    "'%a_'",
    "'100\\%'",
    "'上海'",
    "''",
    "'a' 'b'",
    "'?'",
    "'-- x'",
    "'/*'",
)
NUMBERS = ("0", "1", "2", "3", "10", "1.5", ".5", "1e2", "1.", "007")
BINARY = (
    ("=",) * 6 + ("<>", "!=", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "MOD", "DIV")
    + ("AND",) * 3 + ("OR", "XOR", "&&", "||") + ("|", "REGEXP", "->", "SOUNDS LIKE", "COLLATE")[:2]
)  # fmt: skip
ESCAPE = " ESCAPE '!'"
PLACEHOLDER = "\x00"  # becomes `?` once it is known which of them are in the statement
VALUES: tuple[Param, ...] = (1, 2, "PAID", "上海", None, True, 1.5, "a'b\\", "%")
BLANKS = (" ",) * 12 + ("\n", "\t", "/**/", " /* x */ ", " -- x\n", "#y\n")


class Grower:
    """One statement, with the parameters that its placeholders need."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.params: list[Param] = []
        self.scope: list[tuple[str, str]] = []  # (name in the statement, table)
        self.aliases: list[str] = []

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def odds(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def statement(self) -> str:
        source = self.source()
        items = ", ".join(self.item() for _ in range(self.random.randint(1, 3)))
        parts = ["SELECT", self.one("", "", "", "DISTINCT"), items, "FROM", source]
        if self.odds(2):
            parts += ["WHERE", self.expression(3)]
        if self.odds(3):
            parts += ["GROUP BY", ", ".join(self.key() for _ in range(self.random.randint(1, 2)))]
        if self.odds(4):
            parts += ["HAVING", self.expression(2, aggregates=True)]
        if self.odds(3):
            keys = (self.key() + self.one("", "", " DESC", " ASC") for _ in range(self.random.randint(1, 2)))
            parts += ["ORDER BY", ", ".join(keys)]
        if self.odds(6):
            parts.append(self.one("LIMIT 500", "LIMIT 0, 500", "LIMIT 500 OFFSET 0", "LIMIT 99999999999"))
        if self.odds(25):
            parts.append(
                self.one("FOR UPDATE", "LOCK IN SHARE MODE", "INTO @x", "; SELECT 1", "UNION SELECT 1", ";", ";;")
            )
        blank = self.one(*BLANKS)
        pieces = blank.join(part for part in parts if part).split(PLACEHOLDER)
        self.params = [self.random.choice(VALUES) for _ in pieces[1:]]
        return "?".join(pieces)

    def source(self) -> str:
        first = self.table()
        joins = [first]
        for _ in range(self.random.choice((0, 0, 0, 1, 1, 2))):
            left = list(self.scope)
            kind = self.one(
                "JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "CROSS JOIN", "RIGHT JOIN", ","
            )
            joins += [kind, self.table()]
            if not self.odds(12):
                name, table = self.random.choice(left)
                mine, own = self.scope[-1]
                key = f"{mine}.{self.random.choice(COLUMNS[own])} = {name}.{self.random.choice(COLUMNS[table])}"
                extra = f" {self.one('AND', 'OR')} {self.expression(1)}" if self.odds(4) else ""
                joins += ["ON", self.one(key, key, key, f"({key})", "1 = 1") + extra]
        return " ".join(joins)

    def table(self) -> str:
        written = self.random.choice(TABLES if self.odds(10) else TABLES[:4])
        table = written.rsplit(".", 1)[-1].lower()
        table = table if table in COLUMNS else "orders"
        if self.odds(2):
            alias = f"{self.one('a', 'b', 'c', 'o', 'p', 'full')}{len(self.scope) or ''}"
            self.scope.append((alias, table))
            return f"{written} {self.one('', 'AS ')}{alias}"
        self.scope.append((written.rsplit(".", 1)[-1], table))
        return written

    def column(self) -> str:
        name, table = self.random.choice(self.scope)
        column = self.random.choice(COLUMNS[table])
        if self.odds(12):
            column = column.upper()
        if self.odds(12):
            column = f"`{column}`"
        qualified = len(self.scope) > 1 or self.odds(4)
        if self.odds(15) and self.aliases:
            return self.random.choice(self.aliases)
        return f"{name}.{column}" if qualified and not self.odds(8) else column

    def item(self) -> str:
        if self.odds(40):
            return self.one("*", "orders.*", "@@version", "(SELECT 1)", "COUNT(*) OVER ()")
        text = self.expression(2, aggregates=True)
        if self.odds(2):
            alias = self.one(*ALIASES)
            text += f"{self.one(' AS ', ' ')}{alias}"
            self.aliases.append(alias if not alias.startswith("'") else f"`{alias[1:-1]}`")
        return text

    def key(self) -> str:
        options: list[Callable[[], str]] = [self.column, self.column, lambda: self.expression(1, aggregates=True)]
        options.append(lambda: self.one("1", "2", "(1)", "+1", "-1", PLACEHOLDER))
        if self.aliases:
            options += [lambda: self.random.choice(self.aliases)] * 4
        return self.random.choice(options)()

    def leaf(self) -> str:
        roll = self.random.randrange(20)
        if roll < 11:
            return self.column()
        if roll < 14:
            return self.one(*STRINGS)
        if roll < 17:
            return self.one(*NUMBERS)
        return self.one("NULL", "TRUE", "FALSE") if roll == 17 else PLACEHOLDER

    def expression(self, depth: int, aggregates: bool = False) -> str:
        if depth == 0 or self.odds(3):
            return self.leaf()

        def sub() -> str:
            return self.expression(depth - 1, aggregates)

        roll = self.random.randrange(24)
        if roll < 8:
            return f"{sub()} {self.one(*BINARY)} {sub()}"
        if roll < 10:
            return f"({sub()})"
        if roll == 10:
            return f"{self.one('NOT', 'NOT', '-', '+', '!', '- -')} {sub()}"
        if roll == 11:
            return f"{sub()} {self.one('', 'NOT ')}IN ({sub()}, {sub()})"
        if roll == 12:
            return f"{sub()} {self.one('', 'NOT ')}BETWEEN {sub()} AND {sub()}"
        if roll == 13:
            return f"{sub()} {self.one('', 'NOT ')}LIKE {self.one(*STRINGS)}{self.one('', '', ESCAPE)}"
        if roll == 14:
            return f"{sub()} IS {self.one('', 'NOT ')}{self.one('NULL', 'NULL', 'NULL', 'TRUE')}"
        if roll == 15:
            return f"CASE {self.one('', sub())} WHEN {sub()} THEN {sub()} {self.one('', 'ELSE ' + sub())} END"
        if roll == 16:
            return f"created_at {self.one('+', '-')} INTERVAL {sub()} {self.one('DAY', 'hour', 'MINUTE_SECOND')}"
        if roll < 20 and aggregates:
            return self.aggregate(depth)
        return self.function(sub)

    def aggregate(self, depth: int) -> str:
        inner = self.expression(depth - 1)
        return self.one(
            "COUNT(*)", f"COUNT({inner})", f"COUNT(DISTINCT {inner})", f"SUM({inner})", f"MIN({inner})",
            f"MAX({inner})",
            f"AVG({inner})", f"MAX(DISTINCT {inner})", f"COUNT ({inner})", f"GROUP_CONCAT({inner})",
        )  # fmt: skip

    def function(self, sub: Callable[[], str]) -> str:
        return self.one(
            f"UPPER({sub()})", f"lower({sub()})", f"LENGTH ({sub()})", f"CONCAT({sub()}, {sub()})",
            f"IFNULL({sub()}, {sub()})",
            f"COALESCE({sub()}, {sub()})", f"ROUND({sub()}, 1)", f"DATE({sub()})", f"HOUR({sub()})",
            f"DATE_FORMAT({sub()}, '%Y-%m')", f"TIMESTAMPDIFF(MINUTE, {sub()}, {sub()})", "NOW()", "NOW ()",
            f"DATE_SUB({sub()}, INTERVAL {sub()} DAY)", f"`upper`({sub()})", f"`date`({sub()})", "SLEEP(0)",
            f"IF({sub()}, 1, 2)", f"shop.upper({sub()})",
        )  # fmt: skip
