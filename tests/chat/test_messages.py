"""Every status, failure and refusal is worded in both languages, and holds safe facts only."""

import re

import pytest
from django.utils import translation

from chat import refusals
from chat.messages import failure_message, status_message
from harness.errors import FailureCode, ToolErrorCode
from harness.progress import StatusCode, StatusUpdate

CHINESE = re.compile(r"[\u4e00-\u9fff]")
PLAN = ["look", "check", "compare"]


@pytest.mark.parametrize("code", StatusCode)
def test_every_status_is_worded_in_both_languages(code: StatusCode) -> None:
    update = StatusUpdate(code=code, tool_name="query_logs", topic="payment", evidence_status="NO_EVIDENCE")
    assert CHINESE.search(status_message(update, "zh-hans"))
    assert not CHINESE.search(status_message(update, "en"))


@pytest.mark.parametrize("code", FailureCode)
def test_every_failure_is_worded_in_both_languages(code: FailureCode) -> None:
    assert CHINESE.search(failure_message(code, "zh-hans"))
    assert not CHINESE.search(failure_message(code, "en"))


@pytest.mark.parametrize("code", ToolErrorCode)
def test_every_tool_error_is_worded_in_both_languages(code: ToolErrorCode) -> None:
    update = StatusUpdate(
        code=StatusCode.TOOL_FINISHED, tool_name="query_logs", evidence_status="ERROR", error_code=code
    )
    assert CHINESE.search(status_message(update, "zh-hans"))
    assert code.value not in status_message(update, "en")
    assert status_message(update, "en").startswith("✗ query_logs: ")


def test_a_tool_line_names_tool_topic_window_count_and_time() -> None:
    update = StatusUpdate(
        code=StatusCode.TOOL_FINISHED,
        tool_name="query_logs",
        topic="payment",
        lookback_minutes=30,
        evidence_status="EVIDENCE_FOUND",
        count=12,
        duration_ms=40,
    )
    assert status_message(update, "en") == "query_logs (payment, last 30 min): 12 results, 40 ms"
    assert status_message(update, "zh-hans") == "query_logs (payment, 最近 30 分钟)：12 条结果，40 毫秒"


def test_a_plan_is_one_line_a_step_and_the_default_plan_has_three_to_five() -> None:
    assert status_message(StatusUpdate(code=StatusCode.DIAGNOSIS_PLAN, plan=PLAN), "en").split("\n") == PLAN
    assert 3 <= len(status_message(StatusUpdate(code=StatusCode.DIAGNOSIS_PLAN), "en").split("\n")) <= 5


@pytest.mark.parametrize(
    "refuse",
    [
        refusals.invalid_request,
        refusals.not_authenticated,
        refusals.permission_denied,
        refusals.session_not_found,
        refusals.method_not_allowed,
        refusals.not_acceptable,
        refusals.session_busy,
        refusals.unsupported_media_type,
        refusals.too_many_runs,
        refusals.busy,
        refusals.store_unavailable,
    ],
)
def test_every_refusal_is_worded_in_both_languages(refuse: object) -> None:
    assert callable(refuse)
    with translation.override("zh-hans"):
        assert CHINESE.search(refuse().message)
    with translation.override("en"):
        assert not CHINESE.search(refuse().message)
