"""What `POST /api/chat` takes, byte by byte and header by header."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from chat.question import MAX_BODY_BYTES, MAX_QUERY_CHARACTERS, check_headers, is_visible, parse_question, read_question
from chat.refusals import RefusedError


def body(**values: Any) -> bytes:
    return json.dumps(values).encode()


def refusal_of(raw: bytes) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        parse_question(raw)
    return caught.value


def request(
    content: bytes = b"{}", content_type: str = "application/json", headers: dict[str, str] | None = None
) -> HttpRequest:
    return RequestFactory().generic("POST", "/api/chat", content, content_type=content_type, headers=headers)


def test_a_query_is_trimmed_and_the_session_is_optional() -> None:
    question = parse_question(body(query=" \n 订单支付超时 \t"))
    assert question.query == "订单支付超时"
    assert question.session_id is None


def test_null_starts_a_session_and_a_uuid_goes_on_with_one() -> None:
    session_id = uuid4()
    assert parse_question(body(query="q", session_id=None)).session_id is None
    assert parse_question(body(query="q", session_id=str(session_id))).session_id == session_id


@pytest.mark.parametrize("length", [1, MAX_QUERY_CHARACTERS])
def test_the_longest_and_the_shortest_query_are_taken(length: int) -> None:
    assert len(parse_question(body(query="  " + "长" * length + "  ")).query) == length


@pytest.mark.parametrize(
    ("raw", "fields"),
    [
        (body(), ["query"]),
        (body(query=None), ["query"]),
        (body(query=7), ["query"]),
        (body(query=["q"]), ["query"]),
        (body(query=""), ["query"]),
        (body(query=" \t\u3000 "), ["query"]),
        (body(query="x" * (MAX_QUERY_CHARACTERS + 1)), ["query"]),
        (body(query="a\0b"), ["query"]),
        (body(query="\u200b\u2060"), ["query"]),
        (body(query="\u3164\u2800"), ["query"]),
        (body(query="\u0301"), ["query"]),
        (body(query="\ud800"), ["query"]),
        (body(query="q", session_id="nonsense"), ["session_id"]),
        (body(query="q", session_id=7), ["session_id"]),
        (body(query="q", session_id=""), ["session_id"]),
        (body(query="q", session_id="{" + str(UUID(int=1)) + "}"), ["session_id"]),
        (body(query="q", session_id=UUID(int=1).hex), ["session_id"]),
        (body(query="q", stream=True), ["stream"]),
        (body(Query="q"), ["Query", "query"]),
    ],
)
def test_a_bad_field_is_named(raw: bytes, fields: list[str]) -> None:
    refusal = refusal_of(raw)
    assert (refusal.status, refusal.code) == (400, "INVALID_REQUEST")
    assert refusal.errors is not None
    assert sorted(refusal.errors) == fields


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"query",
        b"[]",
        b'"query"',
        b"null",
        b'{"query": "a", "query": "b"}',
        b'{"query": "q", "session_id": NaN}',
        b'{"query": "q"} {}',
        b'{"query": "\xff"}',
        '{"query": "q"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"query": "q"}',
        b"[" * 60_000,
    ],
)
def test_a_body_that_is_not_one_json_object_in_utf8_is_refused(raw: bytes) -> None:
    refusal = refusal_of(raw)
    assert (refusal.status, refusal.code, refusal.errors) == (400, "INVALID_REQUEST", None)


@pytest.mark.parametrize("character", ["a", "中", "1", "?", "√", "😀"])
def test_letters_digits_and_signs_are_visible(character: str) -> None:
    assert is_visible(character)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_question_or_a_refusal(raw: bytes) -> None:
    try:
        question = parse_question(raw)
    except RefusedError as refusal:
        assert refusal.status == 400  # noqa: PT017  (either end is right)
    else:
        assert question.query.strip() == question.query != ""


@given(st.text(max_size=200))
def test_a_refusal_says_nothing_of_the_query(text: str) -> None:
    marker = f"secret-{text}"
    refusal = refusal_of(body(query=[marker], session_id=marker))
    assert "secret" not in json.dumps(refusal.errors) + refusal.message


def test_a_body_of_the_largest_size_is_read() -> None:
    filled = body(query="q")
    padded = filled + b" " * (MAX_BODY_BYTES - len(filled))
    assert read_question(request(padded)).query == "q"


def test_a_body_that_hides_its_length_is_refused_as_too_large() -> None:
    oversized = request(body(query="q") + b" " * MAX_BODY_BYTES)
    del oversized.META["CONTENT_LENGTH"]
    with pytest.raises(RefusedError) as caught:
        read_question(oversized)
    assert (caught.value.status, caught.value.code) == (413, "REQUEST_TOO_LARGE")


def test_a_body_too_large_is_refused_by_its_header_alone() -> None:
    announced = request()
    announced.META["CONTENT_LENGTH"] = str(MAX_BODY_BYTES + 1)
    with pytest.raises(RefusedError) as caught:
        check_headers(announced)
    assert (caught.value.status, caught.value.code) == (413, "REQUEST_TOO_LARGE")
    assert announced.read() == b"{}"


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-seq",
        "application/json; charset=gbk",
        "application/json; charset=utf-16",
    ],
)
def test_another_media_type_is_refused(content_type: str) -> None:
    with pytest.raises(RefusedError) as caught:
        check_headers(request(content_type=content_type))
    assert (caught.value.status, caught.value.code) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_compressed_body_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        check_headers(request(headers={"Content-Encoding": "gzip"}))
    assert caught.value.status == 415


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_in_utf8_is_taken(content_type: str) -> None:
    check_headers(request(content_type=content_type))


@pytest.mark.parametrize(
    "accept",
    [
        "*/*",
        "text/*",
        "text/event-stream",
        "text/event-stream; charset=utf-8",
        "application/json, text/event-stream",
        "text/*;q=0, text/event-stream;q=0.1",
    ],
)
def test_an_accept_that_covers_event_streams_is_taken(accept: str) -> None:
    check_headers(request(headers={"Accept": accept}))


@pytest.mark.parametrize(
    "accept", ["application/json", "text/html", "text/event-stream;q=0, */*", "text/plain, image/*", ""]
)
def test_an_accept_that_excludes_event_streams_is_refused(accept: str) -> None:
    with pytest.raises(RefusedError) as caught:
        check_headers(request(headers={"Accept": accept}))
    assert (caught.value.status, caught.value.code) == (406, "NOT_ACCEPTABLE")
