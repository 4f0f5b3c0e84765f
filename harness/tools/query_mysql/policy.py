"""The allowlist in the form that the guard asks: which schema, table, column and function may be used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from harness.tools.query_mysql.config import AllowlistSettings, GuardSettings
from harness.tools.query_mysql.functions import CATALOGUE, Function


@dataclass(frozen=True, slots=True)
class AllowedTable:
    """One table that may be read. Schema and table names are exact; column names ignore case."""

    schema: str
    name: str
    columns: Mapping[str, str]
    """Lower-case name to the name as configured, which is what gets rendered."""
    redacted: frozenset[str]
    """Configured names of the columns whose values are masked."""

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class Policy:
    """What one data source allows. Pure data: no connection, no address."""

    default_schema: str
    tables: Mapping[tuple[str, str], AllowedTable]
    functions: Mapping[str, Function]
    max_rows: int
    max_sql_chars: int
    max_params: int
    schemas: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def build(cls, allowlist: AllowlistSettings, settings: GuardSettings) -> Self:
        tables = {
            (schema, table): AllowedTable(
                schema,
                table,
                {column.lower(): column for column in found.columns},
                frozenset(column for column in found.columns if column.lower() in {r.lower() for r in found.redact}),
            )
            for schema, of_schema in allowlist.allowed_schemas.items()
            for table, found in of_schema.tables.items()
        }
        return cls(
            default_schema=allowlist.default_schema,
            tables=tables,
            functions={name: CATALOGUE[name] for name in settings.functions},
            max_rows=settings.max_rows,
            max_sql_chars=settings.max_sql_chars,
            max_params=settings.max_params,
            schemas=frozenset(allowlist.allowed_schemas),
        )

    def table_names(self) -> str:
        """The tables that may be read, for a message."""
        names = [t.name if t.schema == self.default_schema else t.full_name for t in self.tables.values()]
        return shortened(names)

    def function_names(self) -> str:
        """The functions that may be called, for a message."""
        return shortened(list(self.functions))


def shortened(names: list[str], most: int = 30) -> str:
    """A list of names for a message, at most `most` of them."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
