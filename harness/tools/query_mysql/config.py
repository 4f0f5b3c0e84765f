"""Settings of query_mysql: data sources, their allowlists, and the limits of one call.

```toml
[mysql_tools.data_sources.order_readonly]
url = "${ORDER_MYSQL_URL}"            # mysql://user:password@host:3306, from the environment only
default_schema = "order_db"
[mysql_tools.data_sources.order_readonly.allowed_schemas.order_db.tables]
biz_order = { columns = ["order_id", "payment_status"] }
```

Source: 03-tools, "query_mysql".
"""

import os
import re
from collections.abc import Mapping
from typing import Annotated, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator

from harness.config import Bytes, Count, Section
from harness.tools.query_mysql.functions import CATALOGUE, DEFAULT_FUNCTIONS

METADATA_SCHEMAS = frozenset({"information_schema", "mysql", "performance_schema", "sys"})
URL_OPTIONS = frozenset({"unix_socket", "ssl_ca"})
_NAME = re.compile(r"[0-9A-Za-z_$\u0080-\uffff]+")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _exact_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not an exact name: wildcards, patterns, dots and quotes are not supported")
    return name


Name = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_exact_name)]
SourceName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class TableSettings(Section):
    """What may be read of one table."""

    columns: list[Name] = Field(min_length=1, max_length=1_000, description="Columns that may be read (exact names).")
    redact: list[Name] = Field(default=[], description="Those of the columns whose values are masked (exact names).")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        known = [name.lower() for name in self.columns]
        if len(set(known)) < len(known):
            raise ValueError("columns names a column twice (column names ignore case)")
        for name in self.redact:
            if name.lower() not in known:
                raise ValueError(f"redact names {name}, which is not among columns")
        return self


class SchemaSettings(Section):
    """What may be read of one schema."""

    tables: dict[Name, TableSettings] = Field(min_length=1, description="Tables that may be read (exact names).")


class AllowlistSettings(Section):
    """What may be read through one data source."""

    default_schema: Name = Field(description="Schema of tables that are named without one (exact name).")
    allowed_schemas: dict[Name, SchemaSettings] = Field(
        min_length=1, description="Schemas that may be read (exact names)."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in self.allowed_schemas:
            if name.lower() in METADATA_SCHEMAS:
                raise ValueError(f"allowed_schemas names {name}: metadata schemas cannot be allowed")
        if self.default_schema not in self.allowed_schemas:
            raise ValueError(f"default_schema {self.default_schema} is not one of allowed_schemas")
        return self


class DataSourceSettings(AllowlistSettings):
    """One business database."""

    model_config = ConfigDict(hide_input_in_errors=True)

    url: SecretStr = Field(
        description="`${VARIABLE}`: the environment variable that holds mysql://user:password@host:3306 (secret). "
        "Options: ?unix_socket=/path, ?ssl_ca=/path.",
    )

    @field_validator("url", mode="before")
    @classmethod
    def _from_environment(cls, value: object, info: ValidationInfo) -> str:
        environ: Mapping[str, str] = (info.context or {}).get("environ", os.environ)
        reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if reference is None:
            raise ValueError("must be ${VARIABLE}: addresses and passwords are taken from the environment only")
        variable = reference[1]
        url = environ.get(variable)
        if not url:
            raise ValueError(f"the environment variable {variable} is not set")
        problem = _problem(url)
        if problem is None and _place(url) == _place(environ.get("DATABASE_URL", "")):
            problem = "is the application's own database, which the agent must not read"
        if problem is not None:
            raise ValueError(f"the value of the environment variable {variable} {problem}")
        return url


def _problem(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if parts.scheme != "mysql":
        return "must begin with mysql://; the application's own database cannot be a data source"
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(options) - URL_OPTIONS)
    if unknown or not all(options.values()):
        return f"has options other than {', '.join(sorted(URL_OPTIONS))}"
    if not parts.username:
        return "names no user"
    if port == 0 or not (parts.hostname or "unix_socket" in options):
        return "names no host"
    if parts.fragment or parts.path.strip("/"):
        return "must not name a database: default_schema does"
    return None


def _place(url: str) -> tuple[str | None, str | None, int, str]:
    """Where a URL points, whatever the account."""
    try:
        parts = urlsplit(url)
        port = parts.port or 3306
    except ValueError:
        return None, None, 0, ""
    return parts.scheme or None, parts.hostname, port, unquote(parts.query)


def _known_functions(names: list[str]) -> list[str]:
    upper = [name.upper() for name in names]
    for name in upper:
        if name not in CATALOGUE:
            raise ValueError(f"{name} is not a function that can be allowed; known: {', '.join(sorted(CATALOGUE))}")
    return sorted(set(upper))


class GuardSettings(Section):
    """What the guard needs beside the allowlists."""

    functions: Annotated[list[str], AfterValidator(_known_functions)] = Field(
        default=list(DEFAULT_FUNCTIONS), description="Functions that a statement may call (names)."
    )
    max_rows: Annotated[int, Field(gt=0, le=10_000)] = Field(200, description="Rows of one result (rows).")
    max_sql_chars: Annotated[int, Field(gt=0, le=100_000)] = Field(
        20_000, description="Length of one statement (characters)."
    )
    max_params: Count = Field(1_000, description="Parameters of one statement (parameters).")


class PolicySettings(GuardSettings):
    """The allowlists alone, for `manage.py sqlguard`."""

    data_sources: dict[SourceName, AllowlistSettings] = Field(default={}, description="Allowlist of each data source.")


class MysqlToolsSettings(GuardSettings):
    """Business databases that the agent may read."""

    data_sources: dict[SourceName, DataSourceSettings] = Field(
        default={}, description="Data sources by the name that the agent uses; none: the tool refuses every call."
    )
    pool_size: Annotated[int, Field(gt=0, le=64)] = Field(
        4, description="Connections of one process to each data source (connections)."
    )
    pool_wait_seconds: Annotated[float, Field(gt=0, le=60)] = Field(
        3, description="How long a call waits for a connection (seconds)."
    )
    connect_seconds: Annotated[int, Field(gt=0, le=60)] = Field(
        5, description="How long opening a connection may take (seconds)."
    )
    max_raw_bytes: Bytes = Field(
        1 << 20, description="Values of one result as read from the server; more is RESULT_TOO_LARGE (bytes)."
    )
    max_cell_chars: Annotated[int, Field(ge=16, le=100_000)] = Field(
        500, description="One value as the agent sees it; longer is cut and marked (characters)."
    )
    max_result_bytes: Annotated[int, Field(ge=4_096, le=1 << 20)] = Field(
        48 * 1024, description="One result as the agent sees it; further rows are left out (bytes)."
    )
