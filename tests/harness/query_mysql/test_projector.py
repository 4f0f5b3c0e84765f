"""Projections of any raw response: bounded, plain JSON, slices of the raw values, `truncated` exactly when cut."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.query_mysql.config import MysqlToolsSettings
from harness.tools.query_mysql.projector import MASK, project

LIMITS = MysqlToolsSettings(max_cell_chars=40, max_result_bytes=4_096)
CELLS = st.one_of(
    st.none(),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
    st.text("ab 文😀", min_size=35, max_size=60),
    st.binary(max_size=80).map(lambda value: {"binary": f"0x{value.hex()}"}),
)


@st.composite
def raw_responses(draw: st.DrawFn) -> dict[str, Any]:
    count = draw(st.integers(1, 6))
    columns = [{"name": f"c{number}", "redacted": draw(st.booleans())} for number in range(count)]
    rows = draw(st.lists(st.lists(CELLS, min_size=count, max_size=count), max_size=40))
    scope = {"tables": ["shop.orders"], "conditions": ["orders.id = ?"]}
    return {"data_source": "s", "columns": columns, "rows": rows, "truncated": draw(st.booleans()), "scope": scope}


def is_shown(raw: Any, shown: Any) -> bool:
    """Whether the projected value is the raw one, a slice of it, or a mask."""
    if isinstance(raw, dict):
        return bool(shown.startswith("[binary: ")) and shown.split(" ")[-1].rstrip("…") in raw["binary"]
    if isinstance(shown, str) and "[REDACTED:" in shown:
        return True
    if isinstance(raw, str) and isinstance(shown, str):
        return shown == raw or shown.split("… [cut: ")[0] == raw[: shown.rindex("… [cut: ")]
    return bool(shown == raw)


@given(raw=raw_responses())
@settings(max_examples=300)
def test_a_projection_is_bounded_plain_and_says_what_is_missing(raw: dict[str, Any]) -> None:
    result = project(raw, "call_1", LIMITS)
    assert result == project(json.loads(json.dumps(raw)), "call_1", LIMITS)
    assert len(json.dumps(result, ensure_ascii=False, allow_nan=False).encode()) <= LIMITS.max_result_bytes
    assert result["returned_count"] == len(result["rows"])
    cut = len(result["rows"]) < len(raw["rows"])
    for row, shown in zip(raw["rows"], result["rows"], strict=False):
        assert list(shown) == result["columns"]
        for column, before, after in zip(raw["columns"], row, shown.values(), strict=True):
            if column["redacted"]:
                assert after == (None if before is None else MASK)
            else:
                assert is_shown(before, after)
                cut = cut or (
                    isinstance(after, str) and ("… [cut: " in after or after.endswith("…")) and after != before
                )
    assert result["truncated"] is (raw["truncated"] or cut)
    assert ("scope" in result) is (not raw["rows"])


def test_a_row_too_wide_for_the_limit_has_its_values_cut_shorter() -> None:
    raw = {
        "data_source": "s",
        "columns": [{"name": f"column_{number}", "redacted": False} for number in range(60)],
        "rows": [["x" * 40] * 60] * 2,
        "truncated": False,
        "scope": {"tables": [], "conditions": []},
    }
    result = project(raw, "call_1", LIMITS)
    assert (result["returned_count"], result["truncated"]) == (1, True)
    assert result["rows"][0]["column_0"].startswith("x" * 8)


@pytest.mark.parametrize(("size", "cut"), [(40, False), (41, True)])
def test_a_value_at_the_limit_is_whole(size: int, cut: bool) -> None:
    raw = {
        "data_source": "s",
        "columns": [{"name": "a", "redacted": False}],
        "rows": [["x" * size]],
        "truncated": False,
    }
    assert project(raw, "call_1", LIMITS)["truncated"] is cut


def test_a_long_value_that_masking_shortens_still_counts_as_cut() -> None:
    secret = "Authorization: Bearer " + "aB3" * 1_400
    raw = {
        "data_source": "s",
        "columns": [{"name": "a", "redacted": False}],
        "rows": [[secret + " and so on" * 500]],
        "truncated": False,
    }
    result = project(raw, "call_1", LIMITS)
    assert "aB3" not in result["rows"][0]["a"]
    assert "[cut: 9222 characters]" in result["rows"][0]["a"]
    assert result["truncated"] is True
