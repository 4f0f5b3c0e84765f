"""The query language: what it means, and what it says of mistakes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.query_logs.query import QueryError, parse_query

LINE = '2024-01-02 10:00:00 ERROR [order-service] 订单 order-7 支付超时: Connection reset, uid=(0) user="Bob"'


def matches(query: str, text: str = LINE, level: str | None = "ERROR", service: str | None = "order-service") -> bool:
    return parse_query(query).matches(text, level, (service, "shop"))


@pytest.mark.parametrize(
    "query",
    [
        "order-7",
        "ORDER-7 reset",
        "reset order-7",
        '"connection reset"',
        "“connection reset”",
        "支付超时",
        "超时 订单",
        '"order-7 支付超时"',
        "-missing reset",
        '-"reset connection"',
        "level:ERROR",
        "level:error",
        "LEVEL:err",
        'level:"ERROR"',
        "level：ERROR",
        "-level:INFO",
        "level:WARN OR level:ERROR",
        "service:order-service",
        "service:Order-Service reset",
        "service:order",
        "service:shop",
        "-service:pay",
        "missing OR reset",
        "missing OR nothing OR reset order-7",
        "missing OR -nothing",
        "uid=(0)",
        'user="Bob"',
        "or",
    ],
)
def test_a_query_finds_the_line(query: str) -> None:
    assert matches(query)


@pytest.mark.parametrize(
    "query",
    [
        "missing",
        "reset missing",
        '"reset connection"',
        "-reset",
        '-"connection reset" order-7',
        "level:WARN",
        "-level:ERROR",
        "service:reorder",
        "service:rder",
        "service:order-service-2",
        "missing OR nothing",
        "missing OR reset nothing",
        "支付成功",
    ],
)
def test_a_query_does_not_find_the_line(query: str) -> None:
    assert not matches(query)


def test_a_line_without_level_or_service_meets_only_their_exclusion() -> None:
    assert not matches("level:ERROR", level=None)
    assert matches("-level:ERROR", level=None)
    assert not parse_query("service:pay").matches(LINE, None, (None, None))
    assert parse_query("-service:pay").matches(LINE, None, (None, None))


@pytest.mark.parametrize(
    ("query", "position", "part"),
    [
        ("   ", 1, "empty"),
        ('reset "connection', 7, "not closed"),
        ('reset ""', 7, "empty"),
        ('"a"b', 4, "blank"),
        ("OR reset", 1, "both sides"),
        ("reset OR", 7, "both sides"),
        ("reset OR OR x", 10, "both sides"),
        ("reset level:", 13, "value is missing"),
        ("level:LOUD", 7, "TRACE, DEBUG, INFO, NOTICE, WARN, ERROR, FATAL"),
        ("level:ERROR,WARN", 7, "OR between several"),
        ("level:5", 7, "TRACE"),
        ("(reset OR x) y", 1, "brackets"),
        ("reset x) y", 8, "brackets"),
        ("reset AND x", 7, "leave AND out"),
        ("reset NOT x", 7, "-word"),
        ("reset || x", 7, "OR"),
    ],
)
def test_a_mistake_is_shown_with_its_place(query: str, position: int, part: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(query)
    assert str(caught.value).startswith(f"Character {position}: ")
    assert part in str(caught.value)


@given(st.text(max_size=300))
def test_any_text_is_a_query_or_a_mistake_with_a_place(text: str) -> None:
    position = 0
    try:
        parse_query(text).matches(LINE, None, (None,))
    except QueryError as error:
        position = error.position
    assert 0 <= position <= len(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a  b", "b a"),
        ("A", "a"),
        ("a a", "a"),
        ('"a"', "a"),
        ("level:err", "level:ERROR"),
        ("a OR b", "b OR a"),
    ],
)
def test_queries_that_ask_the_same_have_one_text(one: str, other: str) -> None:
    assert str(parse_query(one)) == str(parse_query(other))


def test_queries_that_ask_something_else_have_another_text() -> None:
    texts = {
        str(parse_query(query)) for query in ("a b", '"a b"', "a OR b", "-a b", "level:ERROR a", '"level:error" a')
    }
    assert len(texts) == 6


def test_the_longest_required_text_is_what_a_scan_looks_for() -> None:
    assert parse_query("a reset").required() == ("reset",)
    assert parse_query("ab OR longer reset").required() == ("reset",)
    assert parse_query("level:ERROR OR reset").required() == ()
    assert parse_query("-reset").required() == ()
