"""Proves that a statement stays inside the subset and the allowlist, and renders it anew from the proof.

`lexer` reads the text as MariaDB does, sqlglot (MySQL dialect) builds the tree, `operands`, `expressions`
and `statement` prove the tree against the tokens, `scope` says which column each name means, `render` writes the
statement that runs. The agent's text itself is never executed. Needs no service.
Source: 03-tools, "query_mysql".
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from sqlglot import Dialect, ParseError, parse_one

from harness.tools.query_mysql import render
from harness.tools.query_mysql.lexer import Kind, Lexed, lex
from harness.tools.query_mysql.operands import allowed_function
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import RefusalCode, quoted, refuse
from harness.tools.query_mysql.statement import StatementProver

Param: TypeAlias = str | int | float | bool | None

MAX_NAME_CHARS = 64
MAX_GROWTH = 8
"""How many times the longest statement a rendering may be: aliases inside expressions are written out."""
_MYSQL = Dialect.get_or_raise("mysql")


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the result: its name, unique within the result, and whether its values are masked."""

    name: str
    redacted: bool


@dataclass(frozen=True, slots=True)
class ProvedStatement:
    """A statement that may run."""

    executed_sql: str
    """Rendered from the proof, with `?` for each of `params`."""
    params: tuple[Param, ...]
    """In the order of the placeholders of `executed_sql`."""
    driver_sql: str
    """The same with `%s` and doubled `%`, for a driver that binds on the client."""
    outputs: tuple[OutputColumn, ...]
    tables: tuple[str, ...]
    """Tables read, as `schema.table`, in the order of FROM."""
    columns: tuple[str, ...]
    """Columns read, as `schema.table.column`, in the order of first use."""
    conditions: tuple[str, ...]
    """ON, WHERE and HAVING, split at their ANDs, with `?` for literals and parameters."""
    fingerprint: str
    """SHA-256 of the statement without literals, 16 hex digits."""


def prove(sql: str, params: Sequence[Param], policy: Policy) -> ProvedStatement:
    """Prove one statement. Raise `StatementRefusedError` for whatever cannot be proved."""
    if len(sql) > policy.max_sql_chars:
        refuse(
            RefusalCode.TOO_LONG,
            f"The statement is longer than {policy.max_sql_chars} characters; write a shorter one.",
        )
    _check_params(params, policy)
    lexed = lex(sql)
    placeholders = sum(token.kind is Kind.PARAM for token in lexed.tokens)
    if placeholders != len(params):
        refuse(
            RefusalCode.PARAMS,
            f"The statement has {placeholders} `?` and params has {len(params)} values; pass one for each.",
        )
    for token in lexed.tokens:
        if token.kind is Kind.FUNCTION:  # before parsing: many functions have a syntax of their own
            allowed_function(token, policy)
    try:
        tree = parse_one(lexed.canonical, dialect=_MYSQL)
        prover = StatementProver(lexed, params, policy)
        fragment = prover.run(tree)
    except ParseError as error:
        _not_parsed(lexed, error)
    except RecursionError:
        refuse(RefusalCode.TOO_COMPLEX, "The statement is nested too deep; write it flatter.")
    executed, order = render.statement(fragment, prover.literals)
    if len(executed) > MAX_GROWTH * policy.max_sql_chars:
        refuse(RefusalCode.TOO_COMPLEX, "The statement uses a long alias too often; write it plainly.")
    tables = prover.scope.tables
    return ProvedStatement(
        executed_sql=executed,
        params=tuple(params[number] for number in order),
        driver_sql=render.for_driver(fragment, prover.literals),
        outputs=_outputs(prover),
        tables=tuple(dict.fromkeys(table.allowed.full_name for table in tables)),
        columns=tuple(
            dict.fromkeys(f"{tables[use.table].allowed.full_name}.{use.column}" for use in prover.scope.used)
        ),
        conditions=tuple(render.without_literals(condition) for condition in prover.conditions),
        fingerprint=render.fingerprint(fragment),
    )


def _check_params(params: Sequence[Param], policy: Policy) -> None:
    if len(params) > policy.max_params:
        refuse(RefusalCode.PARAMS, f"There are more than {policy.max_params} params; pass fewer.")
    for number, value in enumerate(params, start=1):
        if isinstance(value, str):
            if any("\ud800" <= char <= "\udfff" for char in value):
                refuse(RefusalCode.PARAMS, f"Param {number} holds half a surrogate pair; pass whole characters.")
        elif isinstance(value, int | float):
            if not math.isfinite(value) or (not -(1 << 63) <= value < 1 << 64 and isinstance(value, int)):
                refuse(
                    RefusalCode.PARAMS,
                    f"Param {number} is not a number that MariaDB has; pass a finite one of 64 bits.",
                )
        elif value is not None:
            refuse(RefusalCode.PARAMS, f"Param {number} is not a string, number, boolean or null; pass one of these.")


def _not_parsed(lexed: Lexed, error: ParseError) -> NoReturn:
    """Name the token where the parser stopped. Its own words are about the canonical text, so they stay out."""
    column = error.errors[0].get("col") if error.errors else None
    near = ""
    if isinstance(column, int):
        starts, at = [], 0
        for token in lexed.tokens:
            starts.append(at)
            at += len(token.canon) + 1
        near = lexed.sql[lexed.tokens[max(0, bisect_right(starts, column - 1) - 1)].start :]
    where = f"near {quoted(near)}" if near.strip() else "to its end"
    refuse(RefusalCode.SYNTAX, f"The statement cannot be read {where}; write one plain SELECT.")


def _outputs(prover: StatementProver) -> tuple[OutputColumn, ...]:
    """Names as MariaDB gives them. Two equal ones would collide in a JSON object: they get their source text."""
    names = [item.name for item in prover.scope.items]
    often = Counter(names)
    taken: Counter[str] = Counter()
    outputs = []
    for item, source in zip(prover.scope.items, prover.sources, strict=True):
        shown = " ".join((source if often[item.name] > 1 and not item.aliased else item.name).split())[:MAX_NAME_CHARS]
        taken[shown] += 1
        while taken[shown] > 1:
            shown = f"{shown} ({taken[shown]})"
            taken[shown] += 1
        outputs.append(OutputColumn(shown, item.redacted))
    return tuple(outputs)
