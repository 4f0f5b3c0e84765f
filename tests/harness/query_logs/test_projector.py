"""Projections of any raw response: bounded, masked, deterministic, `truncated` exactly when something is missing."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.redaction import redact_text
from harness.tools.query_logs.config import LogToolsSettings
from harness.tools.query_logs.projector import project

LIMITS = LogToolsSettings(max_patterns=4, max_events=6, max_message_characters=40, max_characters=200)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=90),
    st.text('ab 文😀\n"\\', min_size=36, max_size=44),
    st.just("login with password=hunter2-secret refused"),
)
LEVELS = st.sampled_from([None, "INFO", "ERROR"])
SERVICES = st.sampled_from([None, "shop", "支付", "s" * 200])


@st.composite
def raw_responses(draw: st.DrawFn) -> dict[str, Any]:
    patterns = [
        {
            "count": draw(st.integers(1, 9)),
            "first_seen": "2024-01-02T11:00:00.000Z",
            "last_seen": "2024-01-02T11:30:00.000Z",
            "level": draw(LEVELS),
            "service": draw(SERVICES),
            "example": draw(TEXTS),
            "whole": draw(st.booleans()),
        }
        for _ in range(draw(st.integers(0, 6)))
    ]
    ranks = draw(st.permutations(range(draw(st.integers(0, 8)))))
    events = [
        {
            "rank": rank,
            "timestamp": f"2024-01-02T11:00:{place:02}.000Z",
            "level": draw(LEVELS),
            "service": draw(SERVICES),
            "message": draw(TEXTS),
            "whole": draw(st.booleans()),
        }
        for place, rank in enumerate(ranks)
    ]
    return {
        "source_kind": "FILE",
        "start_time": "2024-01-02T11:00:00.000Z",
        "end_time": "2024-01-02T12:00:00.000Z",
        "match_count": len(events) + draw(st.integers(0, 2)),
        "pattern_count": len(patterns) + draw(st.integers(0, 1)),
        "incomplete": draw(st.booleans()),
        "patterns": patterns,
        "events": events,
    }


@given(raw=raw_responses())
@settings(max_examples=300)
def test_a_projection_is_bounded_and_says_what_is_missing(raw: dict[str, Any]) -> None:
    result = project(raw, "APPLICATION", "paid", "call_1", LIMITS)
    assert result == project(json.loads(json.dumps(raw)), "APPLICATION", "paid", "call_1", LIMITS)
    json.dumps(result, allow_nan=False).encode()
    assert list(result)[:2] == ["evidence_status", "tool_call_id"]
    assert result["evidence_status"] == ("EVIDENCE_FOUND" if raw["match_count"] else "NO_EVIDENCE")
    assert result["returned_count"] == len(result["events"]) <= LIMITS.max_events
    assert len(result["patterns"]) <= LIMITS.max_patterns
    texts = [each["example"] for each in result["patterns"]] + [each["message"] for each in result["events"]]
    assert all(len(text) <= LIMITS.max_message_characters for text in texts)
    assert sum(map(len, texts)) <= LIMITS.max_characters
    assert "hunter2" not in json.dumps(result)

    by_time = {event["timestamp"]: event for event in raw["events"]}
    assert [event["timestamp"] for event in result["events"]] == sorted(
        event["timestamp"] for event in result["events"]
    )
    cut = False
    for shown, before in [
        *((event["message"], by_time[event["timestamp"]]["message"]) for event in result["events"]),
        *((one["example"], other["example"]) for one, other in zip(result["patterns"], raw["patterns"], strict=False)),
    ]:
        assert redact_text(before).startswith(shown)
        cut = cut or shown != redact_text(before)
    not_whole = any(
        not each["whole"]
        for each in [*raw["patterns"][: len(result["patterns"])], *(by_time[e["timestamp"]] for e in result["events"])]
    )
    missing = len(result["events"]) < raw["match_count"] or len(result["patterns"]) < raw["pattern_count"]
    assert result["truncated"] is (cut or not_whole or missing or raw["incomplete"])


def test_the_events_of_most_worth_are_kept_when_room_is_scarce() -> None:
    event = {"level": None, "service": None, "message": "m" * 40, "whole": True}
    events = [{**event, "rank": 9 - place, "timestamp": f"2024-01-02T11:00:0{place}.000Z"} for place in range(10)]
    raw = {
        "source_kind": "FILE",
        "start_time": "",
        "end_time": "",
        "match_count": 10,
        "pattern_count": 0,
        "incomplete": False,
        "patterns": [],
        "events": events,
    }
    result = project(raw, "APPLICATION", "m", "call_1", LIMITS)
    assert [event["timestamp"][-6] for event in result["events"]] == ["5", "6", "7", "8", "9"]
