"""The byte limit of an `agent_result` holds whatever a tool projects."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.projection import fit_agent_result

texts = st.text(max_size=40)
results = st.fixed_dictionaries(
    {"evidence_status": st.just("EVIDENCE_FOUND"), "truncated": st.booleans(), "returned_count": st.integers(0, 40)},
    optional={
        "events": st.lists(st.dictionaries(texts, texts, max_size=4), max_size=20),
        "patterns": st.lists(st.dictionaries(texts, texts, max_size=4), max_size=20),
    },
)


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


@given(results, st.integers(150, 4000))
def test_a_result_fits_is_a_part_of_the_whole_and_says_when_cut(result: dict[str, Any], limit: int) -> None:
    fitted = fit_agent_result(result, limit)
    assert size(fitted) <= limit
    for name in ("events", "patterns"):
        if name in result:
            assert fitted[name] == result[name][: len(fitted[name])]
    if size(result) <= limit:
        assert fitted == result
    else:
        assert fitted["truncated"] is True
        if "events" in fitted:
            assert fitted["returned_count"] == len(fitted["events"])


def test_a_result_at_the_limit_is_whole_and_one_byte_more_is_cut() -> None:
    result = {"evidence_status": "EVIDENCE_FOUND", "rows": [{"a": "x"}, {"a": "y"}], "truncated": True}
    assert fit_agent_result(result, size(result)) is result
    assert fit_agent_result(result, size(result) - 1)["rows"] == [{"a": "x"}]


def test_a_result_that_cannot_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        fit_agent_result({"evidence_status": "EVIDENCE_FOUND", "scope": "x" * 200}, 100)
