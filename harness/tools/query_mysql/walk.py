"""Walks over a statement's tokens beside its tree, and refuses nodes and parts of nodes that are not known."""

from typing import Any, NoReturn

from sqlglot import exp

from harness.tools.query_mysql.lexer import Kind, Lexed, Token
from harness.tools.query_mysql.refusal import RefusalCode, quoted, refuse

NO_SUBQUERY = "Subqueries are not allowed; join the table, or ask in two calls and pass the values in params."
NO_WILDCARD = "`*` is not allowed; name the columns that you need (COUNT(*) is fine)."
_REASONS: tuple[tuple[tuple[type[Any], ...], RefusalCode, str], ...] = (
    ((exp.Query, exp.Exists, exp.SubqueryPredicate), RefusalCode.SUBQUERY, NO_SUBQUERY),
    ((exp.Star,), RefusalCode.WILDCARD, NO_WILDCARD),
    ((exp.Tuple,), RefusalCode.OPERATOR, "Comparing rows is not allowed; compare each column with AND."),
    ((exp.Alias, exp.Aliases), RefusalCode.ALIAS, "An alias cannot stand here; write it only in the select list."),
    ((exp.Dot,), RefusalCode.FUNCTION, "A name before a function makes it a stored function; call a plain one."),
    ((exp.Join,), RefusalCode.JOIN, "Joins cannot be nested; give each JOIN its ON before the next one."),
)


class TokenWalk:
    """The next token of a statement, and what to do when it is not the expected one."""

    def __init__(self, lexed: Lexed) -> None:
        self.lexed = lexed
        self.tokens = lexed.tokens
        self.at = 0

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


def only(node: exp.Expr, known: frozenset[str]) -> None:
    """Refuse a node that has any part beside the known ones."""
    for key, part in node.args.items():
        if part and key not in known:
            if isinstance(part, exp.Expr):
                unsupported(part, "")
            refuse(
                RefusalCode.UNSUPPORTED, f"{type(node).__name__} with {key.strip('_')} is not allowed; leave it out."
            )


def some(nodes: list[exp.Expr], behind: str) -> list[exp.Expr]:
    """The nodes. Refuse none at all, which sqlglot takes and MariaDB does not."""
    if not nodes:
        refuse(RefusalCode.SYNTAX, f"Nothing stands behind `{behind}`; name at least one column or value.")
    return nodes


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
