"""What the packaged scenario tells: the payment incident in all topics, with planted secrets and a red herring."""

import json

import pytest

from tests.harness.query_logs.asking import NOW, ask, ask_both, mock_tool


async def test_a_whole_day_is_searched_and_counted() -> None:
    result = await ask(mock_tool(lambda: NOW), "order-service level:ERROR", 1440)
    assert result["match_count"] == 5 * 1440


@pytest.mark.parametrize(
    ("topic", "query", "level"),
    [
        (
            "APPLICATION",
            '"HikariPool-1 - Connection is not available, request timed out after 30000ms" service:order-service',
            "ERROR",
        ),
        ("APPLICATION", "ERR_PAY_5003 ERR_TIMEOUT", "ERROR"),
        ("APPLICATION", '"active=50 max=50" pending=23', "WARN"),
        ("APPLICATION", '"long transaction" BatchSettlementJob', "WARN"),
        ("APPLICATION", "支付超时", "WARN"),
        ("APPLICATION", '"cache miss rate" service:inventory-service', "WARN"),
        ("APPLICATION", '"payment accepted" service:payment-service', "INFO"),
        ("GATEWAY", '"504 160"', "ERROR"),
        ("GATEWAY", '"GET /api" level:INFO', "INFO"),
        ("DATABASE", '"Lock wait timeout exceeded"', "ERROR"),
        ("DATABASE", '"slow query"', "WARN"),
        ("DATABASE", '"long transaction"', "WARN"),
        ("SYSTEM", '"readiness probe succeeded"', None),
    ],
)
async def test_the_incident_is_told_in_all_topics(topic: str, query: str, level: str | None) -> None:
    result = await ask(mock_tool(lambda: NOW), query, 120, topic)
    assert result["match_count"] > 0
    assert {pattern["level"] for pattern in result["patterns"]} == {level}


async def test_stack_traces_are_part_of_their_event() -> None:
    result = await ask(mock_tool(lambda: NOW), '"SQLTransientConnectionException" "request timed out"')
    assert all("\tat com.zaxxer.hikari" in event["message"] for event in result["events"])


async def test_planted_secrets_are_masked() -> None:
    for query, kind in (("reconnecting", "password"), ("Authorization", "bearer")):
        raw, result = await ask_both(mock_tool(lambda: NOW), query, 240)
        assert result["match_count"] > 5
        shown = json.dumps(result)
        assert f"[REDACTED:{kind}]" in shown
        assert "Dem0-Pa55" in json.dumps(raw) or kind != "password"
        assert "Dem0-Pa55" not in shown
        tokens = [event["message"].split("Bearer ")[1].split()[0] for event in raw["events"] if kind == "bearer"]
        assert all(token not in shown for token in tokens)
