"""Every rule refuses with its code, names the offending part, and says what to write instead."""

import pytest

from harness.tools.query_mysql.guard import Param, prove
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import RefusalCode, StatementRefusedError

DEEP = "(" * 30 + "id" + ")" * 30


RULES = [
    ("TOO_LONG", "SELECT id FROM orders WHERE status = '" + "x" * 30_000 + "'", "20000 characters", "shorter"),
    ("TOO_COMPLEX", f"SELECT {DEEP} FROM orders", "levels deep", "flatter"),
    ("CHARACTER", "SELECT id FROM orders WHERE status = 'a\0'", "NUL", "params"),
    ("CHARACTER", "SELECT na\u200bme FROM users", "U+200B", "without"),
    ("CHARACTER", "SELECT id\x01 FROM orders", "U+0001", "leave it out"),
    ("CHARACTER", "SELECT name\u3000FROM users", "U+3000", "without"),
    ("COMMENT", "SELECT id /*!50000 , status */ FROM orders", "/*!50000", "leave it out"),
    ("COMMENT", "SELECT id /*M!100100 , status */ FROM orders", "/*M!100100", "leave it out"),
    ("COMMENT", "SELECT id FROM orders /* open", "/* open", "leave it out"),
    ("HINT", "SELECT /*+ NO_INDEX(orders) */ id FROM orders", "/*+ NO_INDEX", "leave it out"),
    ("HINT", "SELECT SQL_NO_CACHE id FROM orders", "Modifiers after SELECT", "leave it out"),
    ("HINT", "SELECT id FROM orders FORCE INDEX (ix_orders_user)", "`FORCE`", "leave it out"),
    ("SYNTAX", "SELECT id FROM orders WHERE (id = 1", "opening parenthesis", "close it"),
    ("SYNTAX", "SELECT id FROM orders WHERE status = 'open", "open", "close it"),
    ("SYNTAX", "SELECT id, FROM orders", ", FROM orders", "plainly"),
    ("SYNTAX", "SELECT FROM orders", "`SELECT`", "at least one"),
    ("SYNTAX", "SELECT id FROM orders WHERE id NOT IN ()", "`IN (`", "at least one"),
    ("SYNTAX", "SELECT COUNT(*) FROM orders GROUP BY", "`GROUP BY`", "at least one"),
    ("SYNTAX", "SELECT id FROM orders HAVING id > 1 WHERE id > 2", "HAVING id > 1", "plainly"),
    ("STATEMENT", "SHOW TABLES", "`SHOW`", "SELECT"),
    ("STATEMENT", "DELETE FROM orders", "`DELETE`", "SELECT"),
    ("STATEMENT", "BEGIN", "`BEGIN`", "SELECT"),
    ("STATEMENT", " -- nothing", "empty", "SELECT"),
    ("MULTIPLE_STATEMENTS", "SELECT id FROM orders; DROP TABLE orders", "`;`", "leave out"),
    ("KEYWORD", "SELECT id FROM orders WHERE key = 1", "`key`", "backticks"),
    ("KEYWORD", "SELECT id FROM orders WHERE read = 1", "`read`", "backticks"),
    ("WITH", "WITH t AS (SELECT id FROM orders) SELECT id FROM t", "`WITH`", "plain SELECT"),
    ("SUBQUERY", "SELECT id FROM orders WHERE id IN (SELECT id FROM users)", "Subqueries", "join"),
    ("SUBQUERY", "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM users)", "`EXISTS`", "join"),
    ("UNION", "SELECT id FROM orders UNION SELECT id FROM users", "`UNION`", "two calls"),
    ("WINDOW", "SELECT SUM(id) OVER () FROM orders", "`OVER`", "GROUP BY"),
    ("INTO", "SELECT id INTO OUTFILE '/tmp/x' FROM orders", "`INTO`", "leave INTO out"),
    ("LOCK", "SELECT id FROM orders FOR UPDATE", "`FOR`", "without it"),
    ("LOCK", "SELECT id FROM orders LOCK IN SHARE MODE", "`LOCK`", "without it"),
    ("VARIABLE", "SELECT @@version FROM orders", "@@version", "params"),
    ("OPERATOR", "SELECT id FROM orders WHERE status REGEXP 'a'", "`REGEXP`", "LIKE"),
    ("OPERATOR", "SELECT id & 1 FROM orders", "`&`", "AND"),
    ("OPERATOR", "SELECT id FROM orders WHERE (id, status) = (1, 'a')", "rows", "AND"),
    ("OPERATOR", "SELECT id FROM orders WHERE amount IS TRUE", "IS", "="),
    ("LITERAL", "SELECT x'41' FROM orders", "x'", "plain string"),
    ("LITERAL", "SELECT 0x41 FROM orders", "`0x41`", "decimal"),
    ("LITERAL", "SELECT _latin1'a' FROM orders", "`_latin1`", "plain string"),
    ("LITERAL", "SELECT id FROM orders WHERE created_at > DATE '2026-01-01'", "`DATE`", "plain string"),
    ("PRECEDENCE", "SELECT id FROM orders WHERE id = NOT 1", "`NOT ?`", "parentheses"),
    ("FUNCTION", "SELECT SLEEP(5) FROM orders", "`SLEEP`", "allowed are"),
    ("FUNCTION", "SELECT COUNT (*) FROM orders", "COUNT", "COUNT(...)"),
    ("FUNCTION", "SELECT shop.upper(status) FROM orders", "`upper`", "plain one"),
    ("FUNCTION", "SELECT ROUND(amount, 1, 2) FROM orders", "ROUND", "1 to 2"),
    ("FUNCTION", "SELECT CURRENT_TIMESTAMP FROM orders", "`CURRENT_TIMESTAMP`", "NOW()"),
    ("AGGREGATE", "SELECT id FROM orders WHERE COUNT(*) > 1", "COUNT", "HAVING"),
    ("AGGREGATE", "SELECT status, COUNT(*) AS n FROM orders GROUP BY n", "`n`", "HAVING"),
    ("AGGREGATE", "SELECT status, COUNT(*) n FROM orders GROUP BY status ORDER BY n + 1", "`n`", "itself"),
    ("INTERVAL", "SELECT NOW() - INTERVAL 5 FROM orders", "INTERVAL", "INTERVAL 30 MINUTE"),
    ("INTERVAL", "SELECT DATE_ADD(created_at, 5) FROM orders", "DATE_ADD", "INTERVAL 30 MINUTE"),
    ("WILDCARD", "SELECT o.* FROM orders o", "`*`", "name the columns"),
    ("WILDCARD", "SELECT SUM(*) FROM orders", "SUM(*)", "name a column"),
    ("TABLE", "SELECT name FROM secrets", "`secrets`", "orders, payments, users, inventory"),
    ("TABLE", "SELECT id FROM ORDERS", "`ORDERS`", "shop.orders"),
    ("TABLE", "SELECT table_name FROM information_schema.tables", "metadata", "names that you were given"),
    ("TABLE", "SELECT 1", "no table", "FROM"),
    ("JOIN", "SELECT o.id FROM orders o CROSS JOIN users u", "`CROSS`", "INNER JOIN"),
    ("JOIN", "SELECT o.id FROM orders o FULL JOIN users u ON u.id = o.user_id", "FULL JOIN", "LEFT JOIN"),
    ("JOIN", "SELECT o.id FROM orders o, users u", "commas", "JOIN ... ON"),
    ("JOIN", "SELECT o.id FROM orders o JOIN users u ON 1 = 1", "column of u", "ON a.id = b.a_id"),
    ("JOIN", "SELECT o.id FROM orders o JOIN users u ON u.id = o.user_id OR TRUE", "column of u", "ON a.id"),
    ("JOIN", "SELECT o.id FROM orders o JOIN users u USING (id)", "`USING`", "ON"),
    ("JOIN", "SELECT o.id FROM orders o JOIN payments p JOIN users u ON u.id = 1 ON p.id = 2", "nested", "its ON"),
    ("COLUMN", "SELECT phone FROM users", "`phone`", "id, name, city"),
    ("COLUMN", "SELECT name，city FROM users", "Full-width", "id, name, city"),
    ("COLUMN", "SELECT order_no AS no FROM orders WHERE no = 'x'", "`no`", "its expression"),
    ("COLUMN", "SELECT name AS phone FROM users GROUP BY phone", "`phone`", "another alias"),
    ("COLUMN", "SELECT status FROM orders HAVING amount > 1", "`amount`", "WHERE"),
    ("COLUMN", "SELECT status FROM orders ORDER BY 2", "2", "name a column"),
    ("AMBIGUOUS", "SELECT id FROM orders JOIN payments ON order_id = orders.id", "`id`", "orders.id or payments.id"),
    ("AMBIGUOUS", "SELECT status AS s, channel AS s FROM payments ORDER BY s", "`s`", "two aliases"),
    ("ALIAS", "SELECT users.name FROM users u", "`users.name`", "u.name"),
    ("ALIAS", "SELECT id AS '' FROM orders", "empty", "plain one"),
    ("ALIAS", "SELECT o.id FROM orders o JOIN users o ON o.id = o.id", "`o`", "alias of its own"),
    ("LIMIT", "SELECT id FROM orders LIMIT '5'", "5", "whole numbers"),
    ("LIMIT", "SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", "`FETCH`", "LIMIT"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "sql", "part", "instead"), RULES)
def test_a_refusal_names_the_part_and_what_to_write(
    code: str, sql: str, part: str, instead: str, policy: Policy
) -> None:
    with pytest.raises(StatementRefusedError) as refused:
        prove(sql, [], policy)
    assert refused.value.code is RefusalCode(code), refused.value.message
    assert part in refused.value.message
    assert instead in refused.value.message


@pytest.mark.parametrize(
    ("sql", "params", "said"),
    [
        ("SELECT id FROM orders WHERE id = ?", [], "has 1 `.` and params has 0"),
        ("SELECT id FROM orders", [1], "has 0 `.` and params has 1"),
        ("SELECT id FROM orders WHERE id = ?", [float("nan")], "finite"),
        ("SELECT id FROM orders WHERE id = ?", [float("inf")], "finite"),
        ("SELECT id FROM orders WHERE id = ?", [1 << 70], "64 bits"),
        ("SELECT id FROM orders WHERE id = ?", ["\ud800"], "whole characters"),
        ("SELECT id FROM orders WHERE id = ?AND total > 1", [1], "put a blank"),
        ("SELECT id FROM orders ORDER BY ?", [1], "positions"),
        ("SELECT id FROM orders LIMIT ?", ["5"], "whole numbers"),
        ("SELECT id FROM orders LIMIT ?", [-1], "whole numbers"),
        ("SELECT id FROM orders LIMIT ?", [True], "whole numbers"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(sql: str, params: list[Param], said: str, policy: Policy) -> None:
    with pytest.raises(StatementRefusedError, match=said):
        prove(sql, params, policy)


def test_every_code_but_the_unknown_node_has_a_case_here() -> None:
    named = {code for code, *_ in RULES}
    assert {code.value for code in RefusalCode} - named == {"PARAMS", "UNSUPPORTED"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 10_000 + "id" + ")" * 10_000 + " FROM orders",
        "SELECT id FROM orders WHERE " + "NOT " * 4_000 + "id",
        "SELECT id FROM orders WHERE id IN (" + "1," * 9_000 + "1)",
        "SELECT " + "CASE WHEN " * 1_500 + "1",
        "SELECT id FROM orders WHERE status = '" + "\\'" * 500_000 + "'",
        "/*" * 500_000,
        "SELECT " + "'" * 19_001 + " FROM orders",
        "SELECT " + "UPPER(" * 3_000 + "1" + ")" * 3_000 + " FROM orders",
        "SELECT id FROM orders WHERE " + "- " * 5_000 + "id",
    ],
    ids=range(9),
)
def test_deep_and_long_statements_are_refused_without_a_crash(sql: str, policy: Policy) -> None:
    with pytest.raises(StatementRefusedError):
        prove(sql, [], policy)


def test_a_long_flat_condition_is_no_problem(policy: Policy) -> None:
    sql = "SELECT id FROM orders WHERE " + " AND ".join(["id > 1"] * 900)
    assert prove(sql, [], policy).executed_sql.count(" AND ") == 899
