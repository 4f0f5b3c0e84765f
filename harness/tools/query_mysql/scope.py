"""Which column a name means, by MariaDB's rules (tried on 10.11), and whether it may be read.

The guard knows the allowlist, not the schema: a table may have columns that nobody told it of. So nothing
may depend on their absence. Where MariaDB takes a table's column before an alias, an alias is rendered
as its position or its expression, so that a hidden column of the same name cannot be meant.
"""

import re
from dataclasses import dataclass, field

from harness.tools.query_mysql.policy import AllowedTable, shortened
from harness.tools.query_mysql.refusal import RefusalCode, StatementRefusedError, quoted, refuse
from harness.tools.query_mysql.render import name as quote

_SENSITIVE = re.compile(
    r"(?:^|_)(?:passwords?|passwd|pwd|passphrase|secrets?|tokens?|salt|hash|api_?key|private_?key|credentials?|cvv|pin"
    r"|phones?|mobiles?|tel|telephone|e?mails?|id_?cards?|id_?no|id_?number|identity|passport|ssn|tax_?id"
    r"|(?:bank|credit|debit)_?(?:card|account)\w*|card_?(?:no|num|number)|iban|account_?(?:no|number)"
    r"|address|birth\w*|dob|salary|real_?name)(?:_|$)|密码|口令|密钥|令牌|手机|电话|身份证|银行卡|邮箱|住址"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FULL_WIDTH = re.compile(r"[\uff01-\uff5e\u3001\u3002]")


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column of one table of FROM. Equal when it is the same column of the same occurrence."""

    table: int
    column: str


@dataclass(slots=True)
class ScopeTable:
    """One occurrence of a table in FROM, under the name by which the statement knows it."""

    allowed: AllowedTable
    name: str
    aliased: bool


@dataclass(slots=True)
class SelectItem:
    """One expression of the select list."""

    name: str
    """The name under which MariaDB knows it: the alias, the column's name, or its source text."""
    aliased: bool
    text: str
    column: ColumnUse | None
    aggregate: bool
    redacted: bool


@dataclass(slots=True)
class Scope:
    """The names that a statement may use, as far as it has been read."""

    tables: list[ScopeTable] = field(default_factory=list)
    items: list[SelectItem] = field(default_factory=list)
    group_columns: list[ColumnUse] = field(default_factory=list)
    used: dict[ColumnUse, None] = field(default_factory=dict)
    """Every column that was resolved, in the order of first use."""

    def add_table(self, table: ScopeTable) -> None:
        if any(other.name == table.name for other in self.tables):
            refuse(RefusalCode.ALIAS, f"Two tables are named {quoted(table.name)}; give each an alias of its own.")
        self.tables.append(table)

    def use(self, column: ColumnUse) -> str:
        """Note the column and render it, qualified."""
        self.used.setdefault(column)
        return f"{quote(self.tables[column.table].name)}.{quote(column.column)}"

    def is_redacted(self, column: ColumnUse) -> bool:
        return column.column in self.tables[column.table].allowed.redacted

    def find(self, parts: list[str]) -> list[ColumnUse]:
        """The allowed columns that `[schema.][table.]column` may mean."""
        key = parts[-1].lower()
        return [
            ColumnUse(index, table.allowed.columns[key])
            for index, table in enumerate(self.tables)
            if key in table.allowed.columns and _matches(table, parts)
        ]

    def column(self, parts: list[str]) -> ColumnUse:
        """The one column that the name means. Refuse anything else."""
        found = self.find(parts)
        if len(found) == 1:
            return found[0]
        written = ".".join(parts)
        if found:
            owners = " or ".join(f"{self.tables[use.table].name}.{use.column}" for use in found)
            refuse(RefusalCode.AMBIGUOUS, f"The column {quoted(written)} is in several tables; write {owners}.")
        tables = [table for table in self.tables if _matches(table, parts)]
        if not tables:
            self._unknown_qualifier(parts, written)
        if len(parts) == 1 and any(self._named(parts[0])):
            refuse(
                RefusalCode.COLUMN,
                f"{quoted(written)} is an alias, which MariaDB does not see here; write its expression.",
            )
        known = "; ".join(f"{table.name}: {shortened(list(table.allowed.columns.values()))}" for table in tables[:5])
        wide = " Full-width punctuation is part of a name in SQL." if _FULL_WIDTH.search(written) else ""
        raise StatementRefusedError(
            RefusalCode.COLUMN,
            f"The column {quoted(written)} is not one that may be read.{wide} Columns that may be read: {known}.",
        )

    def _unknown_qualifier(self, parts: list[str], written: str) -> None:
        for table in self.tables:
            if table.aliased and table.allowed.name == parts[-2]:
                refuse(
                    RefusalCode.ALIAS,
                    f"{quoted(written)}: the table has the alias {quoted(table.name)}; write {table.name}.{parts[-1]}.",
                )
        names = ", ".join(table.name for table in self.tables)
        refuse(
            RefusalCode.COLUMN,
            f"{quoted(written)} names no table of FROM (here: {names}; table names and aliases are exact).",
        )

    def _named(self, text: str) -> list[SelectItem]:
        key = text.lower()
        return [item for item in self.items if item.name.lower() == key]

    def item(self, text: str) -> SelectItem | None:
        """The select item of that name. Refuse two different ones."""
        found = self._named(text)
        if len(found) > 1 and any(other.column is None or other.column != found[0].column for other in found):
            refuse(RefusalCode.AMBIGUOUS, f"Two result columns are named {quoted(text)}; give them two aliases.")
        return found[0] if found else None

    def position(self, item: SelectItem) -> str:
        return str(1 + next(index for index, other in enumerate(self.items) if other is item))

    def in_expression(self, parts: list[str], clause: str) -> ColumnUse | SelectItem:
        """A name inside an expression of GROUP BY or ORDER BY, or inside an aggregate of HAVING.

        MariaDB takes the table's column before the alias.
        """
        if len(parts) == 1 and not self.find(parts):
            item = self.item(parts[0])
            if item is not None:
                if item.aggregate:
                    refuse(
                        RefusalCode.AGGREGATE,
                        f"{quoted(parts[0])} is an aggregate: an expression of {clause} cannot name it by its alias; "
                        "write the aggregate itself.",
                    )
                _refuse_sensitive(parts[0], item, clause)
                return item
        return self.column(parts)

    def group_name(self, text: str) -> ColumnUse | SelectItem:
        """A name alone in GROUP BY: the table's column before the alias, unless several tables have it."""
        item = self.item(text)
        if item is None:
            return self.column([text])
        found = self.find([text])
        if len(found) == 1 and found[0] != item.column:
            return found[0]
        if item.aggregate:
            refuse(RefusalCode.AGGREGATE, f"GROUP BY cannot use the aggregate {quoted(text)}; filter it with HAVING.")
        if not found:
            _refuse_sensitive(text, item, "GROUP BY")
        return item.column or item

    def order_name(self, text: str) -> ColumnUse | SelectItem:
        """A name alone in ORDER BY: the alias before the table's column."""
        item = self.item(text)
        return self.column([text]) if item is None else item.column or item

    def having_name(self, parts: list[str]) -> ColumnUse | SelectItem:
        """A name in HAVING outside aggregates: an alias, or a column that is selected or grouped by."""
        if len(parts) == 1:
            item = self.item(parts[0]) or self._behind_alias(parts[0])
            grouped = [use for use in self.group_columns if use.column.lower() == parts[0].lower()]
            if item is not None and not (grouped and item.column not in grouped):
                return item.column or item
            if len(set(grouped)) == 1:
                return grouped[0]
        column = self.column(parts)
        if column not in self.group_columns and all(item.column != column for item in self.items):
            refuse(
                RefusalCode.COLUMN,
                f"HAVING sees only aggregates, selected and GROUP BY columns; put the condition on "
                f"{quoted('.'.join(parts))} in WHERE.",
            )
        return column

    def _behind_alias(self, text: str) -> SelectItem | None:
        found = [item for item in self.items if item.column and item.column.column.lower() == text.lower()]
        if len({item.column for item in found}) > 1:
            refuse(RefusalCode.AMBIGUOUS, f"The column {quoted(text)} is selected from several tables; qualify it.")
        return found[0] if found else None


def _matches(table: ScopeTable, parts: list[str]) -> bool:
    return (len(parts) < 2 or table.name == parts[-2]) and (len(parts) < 3 or table.allowed.schema == parts[-3])


def _refuse_sensitive(text: str, item: SelectItem, clause: str) -> None:
    """Refuse an alias that reads like personal data or a secret where a column of that name would come first.

    What runs is safe either way; but the agent would take the result for the hidden column's values.
    """
    named_so = item.column is not None and item.column.column.lower() == text.lower()
    if not named_so and _SENSITIVE.search(_CAMEL.sub("_", text).lower()):
        refuse(
            RefusalCode.COLUMN,
            f"{clause} takes a table's column before an alias, and {quoted(text)} is not a column that may be read; "
            "choose another alias.",
        )
