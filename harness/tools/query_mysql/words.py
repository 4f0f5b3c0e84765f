"""MariaDB's words, as its lexer tells them apart (taken from MariaDB 10.11 by trying each keyword)."""

from harness.tools.query_mysql.refusal import RefusalCode


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    "SELECT DISTINCT FROM AS INNER LEFT OUTER JOIN ON WHERE AND OR XOR NOT IN BETWEEN LIKE IS NULL TRUE FALSE CASE "
    "WHEN THEN ELSE GROUP BY HAVING ORDER ASC DESC LIMIT OFFSET INTERVAL DIV MOD"
)
"""Reserved words that the subset uses."""

RESERVED = _words(
    "ACCESSIBLE ADD ALL ALTER ANALYZE ASENSITIVE BEFORE BIGINT BINARY BLOB BOTH CALL CASCADE CHANGE CHAR CHARACTER "
    "CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE CROSS CURRENT_DATE CURRENT_ROLE CURRENT_TIME "
    "CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASES DEC DECIMAL DECLARE DEFAULT DELAYED DELETE DELETE_DOMAIN_ID "
    "DESCRIBE DETERMINISTIC DISTINCTROW DOUBLE DO_DOMAIN_IDS DROP DUAL EACH ELSEIF ENCLOSED ESCAPED EXCEPT EXISTS "
    "EXIT EXPLAIN FETCH FLOAT FLOAT4 FLOAT8 FOR FORCE FOREIGN FULLTEXT GRANT HIGH_PRIORITY IF IGNORE "
    "IGNORE_DOMAIN_IDS INDEX INFILE INOUT INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT INTO "
    "ITERATE KEY KEYS KILL LEADING LEAVE LINEAR LINES LOAD LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP "
    "LOW_PRIORITY MASTER_DEMOTE_TO_REPLICA MASTER_DEMOTE_TO_SLAVE MASTER_SSL_VERIFY_SERVER_CERT MATCH MAXVALUE "
    "MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MODIFIES NATURAL NO_WRITE_TO_BINLOG NUMERIC OPTIMIZE OPTIONALLY OUT "
    "OUTFILE OVER PAGE_CHECKSUM PARSE_VCOL_EXPR PARTITION PORTION PRECISION PRIMARY PROCEDURE PURGE RANGE READ READS "
    "READ_WRITE REAL RECURSIVE REFERENCES REF_SYSTEM_ID REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL "
    "RESTRICT RETURN RETURNING REVOKE RIGHT RLIKE ROWS ROW_NUMBER SCHEMAS SENSITIVE SEPARATOR SET SHOW SIGNAL "
    "SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS "
    "SQL_SMALL_RESULT SSL STARTING STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES STRAIGHT_JOIN TABLE "
    "TERMINATED TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER UNDO UNION UNIQUE UNLOCK UNSIGNED UPDATE USAGE USE "
    "USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR VARCHARACTER VARYING WHILE WITH WRITE ZEROFILL "
    "DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND MINUTE_MICROSECOND "
    "MINUTE_SECOND SECOND_MICROSECOND YEAR_MONTH"
)
"""Reserved words outside the subset: never a name unless quoted or after a dot."""

NO_BARE_ALIAS = frozenset({"WINDOW", "SOUNDS"})
"""Names, but not as an alias without AS."""

SELECT_MODIFIERS = frozenset({"SQL_CACHE", "SQL_NO_CACHE", "SQL_BUFFER_RESULT"})
"""Names, but directly after SELECT they are modifiers."""

SIMPLE_UNITS = _words("MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR")
UNITS = SIMPLE_UNITS | _words(
    "DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND MINUTE_MICROSECOND "
    "MINUTE_SECOND SECOND_MICROSECOND YEAR_MONTH"
)

_ONE_SELECT = "Only one plain SELECT statement can run here."
_NO_LOCK = "Locking reads are not allowed; write the SELECT without it."
_NO_WINDOW = "Window functions are not allowed; use GROUP BY with an aggregate, or ORDER BY with LIMIT."
_NO_JOIN = "Write INNER JOIN or LEFT JOIN with an ON condition that relates the two tables."
_NO_INDEX = "Index hints are not allowed; leave it out."
_NO_SET = "UNION and its like are not allowed; run the two SELECT statements as two calls."
_NO_TIME = "Write NOW() instead."

REASONS: dict[str, tuple[RefusalCode, str]] = {
    "WITH": (RefusalCode.WITH, "WITH is not allowed; write one plain SELECT, or two calls that pass values as params."),
    "EXISTS": (RefusalCode.SUBQUERY, "Subqueries are not allowed; join the table, or ask in two calls."),
    "OVER": (RefusalCode.WINDOW, _NO_WINDOW),
    "ROW_NUMBER": (RefusalCode.WINDOW, _NO_WINDOW),
    "PARTITION": (RefusalCode.KEYWORD, "PARTITION is not allowed; name the table alone."),
    "INTO": (RefusalCode.INTO, "SELECT ... INTO is not allowed; leave INTO out, the rows are returned."),
    "OUTFILE": (RefusalCode.INTO, "SELECT ... INTO is not allowed; leave INTO out, the rows are returned."),
    "REGEXP": (RefusalCode.OPERATOR, "Regular expressions are not allowed; write LIKE with % and _."),
    "RLIKE": (RefusalCode.OPERATOR, "Regular expressions are not allowed; write LIKE with % and _."),
    "BINARY": (RefusalCode.OPERATOR, "BINARY is not allowed; compare the column as it is."),
    "COLLATE": (RefusalCode.OPERATOR, "COLLATE is not allowed; compare the column as it is."),
    "MATCH": (RefusalCode.FUNCTION, "MATCH ... AGAINST is not allowed; write LIKE with % and _."),
    "USING": (RefusalCode.JOIN, "USING is not allowed; write ON with the two columns, such as `ON a.id = b.a_id`."),
    "PROCEDURE": (RefusalCode.KEYWORD, "PROCEDURE is not allowed; leave it out."),
    "ALL": (RefusalCode.KEYWORD, "ALL is not allowed; leave it out, or write DISTINCT where you mean it."),
    "DISTINCTROW": (RefusalCode.KEYWORD, "DISTINCTROW is not allowed; write DISTINCT."),
    "FETCH": (RefusalCode.LIMIT, "FETCH is not allowed; write LIMIT with a number."),
    "ROWS": (RefusalCode.LIMIT, "ROWS is not allowed; write LIMIT with a number."),
    "DUAL": (RefusalCode.TABLE, "DUAL is not one of the tables that may be read; name an allowed table."),
    **dict.fromkeys(("UNION", "INTERSECT", "EXCEPT"), (RefusalCode.UNION, _NO_SET)),
    **dict.fromkeys(("FOR", "LOCK"), (RefusalCode.LOCK, _NO_LOCK)),
    **dict.fromkeys(("CROSS", "NATURAL", "RIGHT", "STRAIGHT_JOIN"), (RefusalCode.JOIN, _NO_JOIN)),
    **dict.fromkeys(("USE", "FORCE", "IGNORE"), (RefusalCode.HINT, _NO_INDEX)),
    **dict.fromkeys(
        ("HIGH_PRIORITY", "SQL_BIG_RESULT", "SQL_CALC_FOUND_ROWS", "SQL_SMALL_RESULT", *SELECT_MODIFIERS),
        (RefusalCode.HINT, "Modifiers after SELECT are not allowed, DISTINCT apart; leave it out."),
    ),
    **dict.fromkeys(
        ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"),
        (RefusalCode.FUNCTION, _NO_TIME),
    ),
    **dict.fromkeys(("UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP"), (RefusalCode.FUNCTION, _NO_TIME)),
    **dict.fromkeys(
        ("ALTER", "ANALYZE", "CALL", "CREATE", "DELETE", "DESCRIBE", "DROP", "EXPLAIN", "GRANT", "INSERT", "KILL",
         "LOAD", "OPTIMIZE", "PURGE", "RENAME", "REPLACE", "REVOKE", "SET", "SHOW", "TABLE", "UPDATE", "VALUES"),
        (RefusalCode.STATEMENT, _ONE_SELECT),
    ),
}  # fmt: skip
"""What to say of a reserved word; the others get a general sentence."""
