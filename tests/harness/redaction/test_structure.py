from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import redact_value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"password": "x"}, {"password": "[REDACTED:password]"}),
        ({"password": 123456}, {"password": "[REDACTED:password]"}),
        ({"dbPassword": ["a1", "b2"]}, {"dbPassword": ["[REDACTED:password]"] * 2}),
        ({"password": None, "token": "", "secret": "***"}, {"password": None, "token": "", "secret": "***"}),
        ({"password": True, "tokens": 812}, {"password": True, "tokens": 812}),
        ({"a": {"b": [{"api_key": "k9z"}, 3]}}, {"a": {"b": [{"api_key": "[REDACTED:key]"}, 3]}}),
        ({"name": "DB_PASSWORD", "value": "x9"}, {"name": "DB_PASSWORD", "value": "[REDACTED:password]"}),
        ({"name": "TZ", "value": "UTC"}, {"name": "TZ", "value": "UTC"}),
        ({"message": "password=x9 ok"}, {"message": "password=[REDACTED:password] ok"}),
        ({"phone": 13862132484}, {"phone": "[REDACTED:mobile]"}),
        ({"order_id": 2026, "ratio": 0.5}, {"order_id": 2026, "ratio": 0.5}),
        (["13862132484", None, 1], ["[REDACTED:mobile]", None, 1]),
        ({"13862132484": 1, "15012345678": 2}, {"[REDACTED:mobile]": 1, "[REDACTED:mobile] (2)": 2}),
    ],
)
def test_values_are_masked_by_name_and_by_content(value: Any, expected: Any) -> None:
    assert redact_value(value) == expected


def test_the_input_is_left_alone() -> None:
    value = {"a": [{"password": "x"}]}
    redact_value(value)
    assert value == {"a": [{"password": "x"}]}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_any_json_keeps_its_shape(value: Any) -> None:
    once = redact_value(value)
    if isinstance(value, dict | list):
        assert len(once) == len(value)
