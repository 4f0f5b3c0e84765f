from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import redact_text
from harness.redaction.stream import redact_stream

TEXT = (
    "start password=one1 end\n"
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END RSA PRIVATE KEY-----\n"
    "db:\n  password: |\n    line one 1\n    line two 2\n  user: app\n"
    '{"token":\n  "tt-112233",\n "n": 1}\n'
    "last 密码：Spring2026"
)


def pieces(text: str, cuts: list[int]) -> Iterator[str]:
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    yield from (text[start:end] for start, end in pairwise(edges))


@given(st.lists(st.integers(min_value=0), max_size=30))
def test_it_does_not_matter_where_the_stream_is_cut(cuts: list[int]) -> None:
    assert "".join(redact_stream(pieces(TEXT, cuts))) == redact_text(TEXT)


def test_a_whole_line_is_passed_on_before_the_next_comes() -> None:
    def source() -> Iterator[str]:
        yield "password=one1\npart"
        pytest.fail("the first line was held back")

    assert next(redact_stream(source())) == "password=[REDACTED:password]\n"


def test_an_open_private_key_is_held_until_it_ends() -> None:
    lines = ["-----BEGIN PRIVATE KEY-----\n", "AAAA\n", "-----END PRIVATE KEY-----\n", "next\n"]
    assert list(redact_stream(lines)) == ["[REDACTED:private-key]\n" * 3, "next\n"]


def test_a_key_that_never_ends_is_not_held_for_ever() -> None:
    lines = ["-----BEGIN PRIVATE KEY-----\n", *["A" * 63 + "\n"] * 20_000]
    output = list(redact_stream(lines))
    assert len(output) > 1
    assert output[0].startswith("[REDACTED:private-key]")
