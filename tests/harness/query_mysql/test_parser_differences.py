"""Where MariaDB and a parser read a text differently: refused, or rendered so that MariaDB reads it as proved."""

import MySQLdb
import pytest

from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import StatementRefusedError
from tests.harness.query_mysql.server import MariaServer, prepared


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id/*! , password_hash */ FROM users",
        "SELECT id/*!50000, password_hash */ FROM users",
        "SELECT id/*M! , password_hash */ FROM users",
        "SELECT id/*M!100100 , password_hash */ FROM users",
        "SELECT id /* /*! , password_hash */ */ FROM users",
        "SELECT id FROM users LIMIT 1/*",
        "SELECT id FROM users LIMIT 1/*/",
        "SELECT id FROM users /* a /* b */ c */",
        "SELECT id FROM users WHERE name = 'a\\'",
        "SELECT id FROM users WHERE name = 'a\\\\' OR phone LIKE '1%'",
        "SELECT id --\u00a0, name\n FROM users",
        "\ufeffSELECT id FROM users",
        "SELECT id\u00a0FROM users",
        "SELECT ｉｄ FROM users",
        "SELECT id FROM users；",
        "SELECT id FROM users WHERE name = ‘a’",
        "SELECT pass\u200bword_hash FROM users",
        "SELECT \u202eid FROM users",
        "SELECT id FROM users WHERE name = _gbk'\u00bf\\' OR 1=1 -- '",
        "SELECT id FROM users WHERE name = N'a'",
        "SELECT id FROM users WHERE name = x'61'",
        "SELECT id FROM users WHERE id = 0x31",
        "SELECT id FROM users WHERE id = b'1'",
        "SELECT {d '2026-01-01'} FROM users",
        "SELECT \\N FROM users",
        "SELECT 1.phone FROM users",
        "SELECT 1e5phone FROM users",
        "SELECT users.1e5 FROM users",
        "SELECT id INTO @a FROM users",
        "SELECT @a := id FROM users",
        "SELECT `count`(*) FROM users",
        "SELECT COUNT/**/(*) FROM users",
        "SELECT NOW () FROM users",
        "SELECT id FROM users FULL OUTER JOIN orders ON user_id = users.id",
        "SELECT id SOUNDS LIKE 'a' FROM users",
        "SELECT id FROM users PROCEDURE ANALYSE()",
        "SELECT id FROM users FOR SYSTEM_TIME ALL",
        "SELECT NEXT VALUE FOR s FROM users",
        "SELECT id FROM JSON_TABLE('[]', '$[*]' COLUMNS (id INT PATH '$')) t",
        "SELECT name FROM users GROUP BY name WITH ROLLUP",
        "SELECT id FROM users LIMIT 5 ROWS EXAMINED 1000",
        "SELECT BINARY name FROM users",
        "SELECT (SELECT id) FROM users",
        "TABLE users",
        "VALUES (1)",
        "HANDLER users OPEN",
        "(SELECT id FROM users)",
        "SELECT id FROM users; ;",
        "DELIMITER //",
    ],
)
def test_what_could_be_read_otherwise_is_refused(sql: str, policy: Policy) -> None:
    with pytest.raises(StatementRefusedError):
        prove(sql, [], policy)


@pytest.mark.parametrize(
    ("sql", "rendered"),
    [
        ("SELECT id -- 1\n, name FROM users", "SELECT `users`.`id`, `users`.`name` FROM"),
        ("SELECT id --1 FROM users", "SELECT `users`.`id` - -1 FROM"),
        ("SELECT id #x\n FROM users", "SELECT `users`.`id` FROM"),
        ("SELECT/**/id/***/FROM/*/ */users", "SELECT `users`.`id` FROM"),
        ("SELECT`id`FROM`users`", "SELECT `users`.`id` FROM"),
        ("SELECT users . id, users.`id` FROM shop . users", "SELECT `users`.`id`, `users`.`id` FROM"),
        ("SELECT name FROM users SEMI INNER JOIN orders ON user_id = SEMI.id", "AS `SEMI` INNER JOIN"),
        ("SELECT id 'a' FROM users", "SELECT `users`.`id` AS `a` FROM"),
        ("SELECT id `from`, name AS `select` FROM users", "AS `from`, `users`.`name` AS `select`"),
        ("SELECT name END, city escape, id offset_ FROM users", "AS `END`, `users`.`city` AS `escape`"),
        ("SELECT id AS `a``b` FROM users", "AS `a``b`"),
        ("SELECT 'a' 'b' FROM users", "SELECT 'ab' FROM"),
        ("SELECT 'a''b', \"a\"\"b'\" FROM users", "SELECT 'a''b', 'a\"b''' FROM"),
        ("SELECT 'a\\tb\\%\\q\\0' FROM users", "SELECT 'a\tb\\\\%q\\0' FROM"),
        ("SELECT id && 1 || 0 XOR 1 FROM users", "SELECT `users`.`id` AND 1 OR 0 XOR 1 FROM"),
        ("SELECT id FROM users LIMIT 2, 4", "LIMIT 4 OFFSET 2"),
    ],
)
def test_what_is_legal_is_rendered_without_its_oddities(sql: str, rendered: str, policy: Policy) -> None:
    assert rendered in prove(sql, [], policy).executed_sql


def test_limit_with_two_placeholders_keeps_their_meaning(policy: Policy) -> None:
    proved = prove("SELECT id FROM users WHERE id > ? LIMIT ?, ?", [0, 2, 4], policy)
    assert proved.executed_sql.endswith("LIMIT 4 OFFSET 2")
    assert proved.params == (0,)


def test_an_alias_in_an_expression_brings_its_parameters_along(policy: Policy) -> None:
    sql = "SELECT CONCAT(name, ?) AS k FROM users WHERE id > ? ORDER BY LENGTH(k)"
    assert prove(sql, ["a", 1], policy).params == ("a", 1, "a")


@pytest.mark.parametrize(
    "text", ["a\\' OR phone LIKE '1%", "\\", "\\\\", "'", "a\\\\'' OR 1=1 -- ", "\0", "\x1a", "%_", "\\%", "\n"]
)
def test_a_string_ends_where_it_was_proved_to_end_in_every_mode(text: str, policy: Policy, shop: MariaServer) -> None:
    written = "'" + text.replace("\\", "\\\\").replace("'", "''").replace("\0", "\\0") + "'"
    proved = prove(f"SELECT {written} AS a, '|' AS b FROM users WHERE id = 1", [], policy)
    for mode in ("", "NO_BACKSLASH_ESCAPES"):
        connection = shop.connect("guard_ro", "guard_ro", "shop", sql_mode=mode or "STRICT_TRANS_TABLES")
        ((value, bar),) = prepared(connection, proved.executed_sql, [])
        connection.close()
        assert bar == "|"
        assert mode or value == text


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        ("SELECT city AS phone FROM users ORDER BY phone", "accept"),
        ("SELECT city AS phone FROM users ORDER BY LENGTH(phone)", "reject"),
        ("SELECT city AS phone FROM users HAVING phone > 'a'", "accept"),
        ("SELECT city AS phone, COUNT(*) FROM users GROUP BY city HAVING MAX(phone) > 'a'", "reject"),
        ("SELECT city AS zz, COUNT(*) FROM users GROUP BY city HAVING MAX(zz) > 'a'", "accept"),
        ("SELECT city AS name FROM users HAVING name = 'Berlin'", "accept"),
        ("SELECT LOWER(city) AS name, COUNT(*) FROM users GROUP BY name HAVING name = 'berlin'", "accept"),
        ("SELECT status FROM orders HAVING amount > 1", "reject"),
        ("SELECT amount AS a FROM orders HAVING amount > 100", "accept"),
        ("SELECT user_id AS status FROM orders HAVING orders.status = 'PAID'", "reject"),
        ("SELECT COUNT(*) AS n FROM orders GROUP BY user_id HAVING LENGTH(user_id) > 0", "accept"),
        ("SELECT UPPER(o.status) status FROM orders o JOIN payments p ON p.order_id = o.id GROUP BY status", "accept"),
        ("SELECT o.status AS s FROM orders o JOIN payments p ON p.order_id = o.id GROUP BY status", "reject"),
        ("SELECT o.status AS s FROM orders o JOIN payments p ON p.order_id = o.id HAVING status = 'PAID'", "accept"),
        ("SELECT o.status, p.status FROM orders o JOIN payments p ON p.order_id = o.id ORDER BY status", "reject"),
        ("SELECT status AS x, status AS x FROM payments GROUP BY x", "accept"),
        ("SELECT status AS x, channel AS x FROM payments GROUP BY x", "reject"),
        ("SELECT CONCAT(channel, 'x') AS k, COUNT(*) FROM payments GROUP BY LENGTH(k)", "accept"),
        ("SELECT status, COUNT(*) AS n FROM orders GROUP BY (1) ORDER BY +2", "accept"),
        ("SELECT status, COUNT(*) AS n FROM orders GROUP BY 3", "reject"),
        ("SELECT shop.o.id FROM orders o", "accept"),
        ("SELECT shop.orders.id FROM orders o", "reject"),
        ("SELECT O.id FROM orders o", "reject"),
        ("SELECT o.ID FROM orders o", "accept"),
        ("SELECT a.id FROM orders a JOIN orders b ON c.id = a.id JOIN orders c ON c.id = b.id", "reject"),
        ("SELECT id FROM orders WHERE id = NOT 1", "reject"),
    ],
)  # fmt: skip
def test_names_mean_what_mariadb_takes_them_for(sql: str, verdict: str, policy: Policy, shop: MariaServer) -> None:
    """Each verdict is MariaDB's own: it runs the accepted ones for the account, and none of the others."""
    connection = shop.connect("guard_ro", "guard_ro", "shop")
    try:
        if verdict == "accept":
            proved = prove(sql, [], policy)
            assert sorted(prepared(connection, proved.executed_sql, []), key=repr) == sorted(
                prepared(connection, sql, []), key=repr
            )
        else:
            with pytest.raises(StatementRefusedError):
                prove(sql, [], policy)
            with pytest.raises(MySQLdb.Error):
                prepared(connection, sql, [])
    finally:
        connection.close()
