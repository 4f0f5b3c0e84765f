"""The packaged scenario: an incident that is there whenever one looks."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.query_logs.mock import mock_lines
from harness.tools.query_logs.timestamps import to_micros
from tests.harness.query_logs.asking import ask, mock_tool

NOON = datetime(2026, 5, 4, 12, 0, 7, tzinfo=UTC)


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def lines(topic: str, minutes: int, end: datetime = NOON) -> list[str]:
    pieces = mock_lines(topic, to_micros(end - timedelta(minutes=minutes)), to_micros(end))
    text = b"".join(pieces).decode()
    return [each for each in text.splitlines() if each.startswith("20")]  # without stack traces


@pytest.mark.parametrize("topic", ["APPLICATION", "GATEWAY", "DATABASE", "SYSTEM"])
@pytest.mark.parametrize("minutes", [2, 30, 1_440])
async def test_each_topic_speaks_of_the_order_service_in_any_window(topic: str, minutes: int) -> None:
    result = await ask(mock_tool(at(NOON)), "order-service", minutes, topic)
    assert result["evidence_status"] == "EVIDENCE_FOUND"
    assert result["source_kind"] == "MOCK"
    assert result["match_count"] > 0


@settings(max_examples=25)
@given(
    minutes=st.integers(1, 60), moment=st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
)
async def test_one_minute_at_any_time_is_enough_to_find_the_incident(minutes: int, moment: datetime) -> None:
    result = await ask(mock_tool(at(moment)), "level:ERROR service:order-service", minutes)
    assert result["match_count"] >= 1
    start, end = (datetime.fromisoformat(result["scope"][name]) for name in ("start_time", "end_time"))
    assert end - start == timedelta(minutes=minutes)
    assert all(start <= datetime.fromisoformat(event["timestamp"]) <= end for event in result["events"])


async def test_the_same_minute_has_the_same_events_whenever_it_is_asked_for() -> None:
    early = lines("APPLICATION", 30)
    assert early == lines("APPLICATION", 30)
    later = lines("APPLICATION", 60, NOON + timedelta(minutes=10))
    known = set(early)
    assert [each for each in later if each in known] == early


async def test_another_topic_has_no_incident_by_accident() -> None:
    assert not any("ERROR" in each for each in lines("BILLING", 60))


async def test_no_secret_of_the_scenario_is_shown() -> None:
    tool = mock_tool(at(NOON))
    secrets = await ask(tool, "password OR Authorization", 1_440)
    assert secrets["match_count"] > 0
    assert "Dem0-Pa55" not in str(secrets)
    assert "[REDACTED:" in str(secrets)
