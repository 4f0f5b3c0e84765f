"""From what a run's work did to its one final state and the last two events."""

import pytest

from audit.models import RunStatus
from chat.ending import STOPPED, failed, failure_code, succeeded
from diagnosis.intents import Intent
from diagnosis.released import Released
from harness.budget import Budget
from harness.config import BudgetSettings
from harness.errors import (
    BudgetExhaustedError,
    BudgetReason,
    FailureCode,
    ModelCallError,
    ModelFailure,
    RunFailedError,
    RunStoppedError,
    StopReason,
    StoreUnavailableError,
)

REPORT = Released(
    outcome="SUCCESS",
    content_type="DIAGNOSIS_REPORT",
    payload={"conclusion": None},
    published_result={"user_query": "q"},
)
FALLBACK = Released(
    outcome="FALLBACK",
    content_type="FALLBACK",
    payload={"type": "SEMANTIC_UNSUPPORTED"},
    fallback_type="SEMANTIC_UNSUPPORTED",
    fallback_reason="UNSUPPORTED",
)


@pytest.mark.parametrize(
    ("released", "status", "outcome"),
    [(REPORT, RunStatus.SUCCEEDED, "SUCCESS"), (FALLBACK, RunStatus.FALLBACK, "FALLBACK")],
)
def test_what_is_recorded_is_the_very_data_of_the_content_event(
    released: Released, status: RunStatus, outcome: str
) -> None:
    ending = succeeded(released)
    state = ending.final_state(Intent.DIAGNOSIS, Budget(BudgetSettings()))
    event, said = ending.events("en")
    assert (state.status, said, event.name) == (status, outcome, "content")
    assert state.released_content == event.data == {"content_type": released.content_type, "payload": released.payload}
    assert (state.fallback_type, state.fallback_reason) == (released.fallback_type, released.fallback_reason)
    assert (state.published_result, state.failure_code) == (released.published_result, None)


@pytest.mark.parametrize("code", FailureCode)
def test_a_failure_releases_nothing(code: FailureCode) -> None:
    ending = failed(code)
    state = ending.final_state(None, Budget(BudgetSettings()))
    event, outcome = ending.events("en")
    assert (event.name, event.data["code"], outcome) == ("failure", code.value, "FAILED")
    assert set(event.data) == {"code", "message"}
    assert (state.released_content, state.published_result, state.fallback_type) == (None, None, None)
    cancelled = code is FailureCode.CANCELLED
    assert state.status is (RunStatus.CANCELLED if cancelled else RunStatus.FAILED)
    assert state.failure_code == (None if cancelled else code.value)


def test_what_was_used_is_recorded() -> None:
    budget = Budget(BudgetSettings())
    budget.consume_model_call(repair=False)
    budget.consume_tool_call("query_logs")
    budget.consume_tokens(100, 20, 0.5)
    budget.exhaust(BudgetReason.TOKENS)
    state = failed(FailureCode.BUDGET_EXHAUSTED).final_state(Intent.DIAGNOSIS, budget)
    assert (state.model_calls, state.tool_calls, state.input_tokens, state.output_tokens) == (1, 1, 100, 20)
    assert (state.cost_usd, state.budget_exhausted_reason, state.intent) == (0.5, "TOKENS", "DIAGNOSIS")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RunFailedError(FailureCode.ROUTING_UNAVAILABLE), FailureCode.ROUTING_UNAVAILABLE),
        (RunStoppedError(StopReason.DEADLINE), FailureCode.DEADLINE_EXCEEDED),
        (RunStoppedError(StopReason.SHUTTING_DOWN), FailureCode.SHUTTING_DOWN),
        (StoreUnavailableError("away"), FailureCode.STORE_UNAVAILABLE),
        (BudgetExhaustedError(BudgetReason.TOKENS), FailureCode.BUDGET_EXHAUSTED),
        (BudgetExhaustedError(BudgetReason.DEADLINE), FailureCode.DEADLINE_EXCEEDED),
        (ModelCallError(ModelFailure.TIMEOUT), None),
        (ValueError("anything else"), None),
    ],
)
def test_only_errors_raised_on_purpose_have_a_code(error: Exception, code: FailureCode | None) -> None:
    assert failure_code(error) is code


def test_every_reason_to_stop_has_a_code() -> None:
    assert set(STOPPED) == set(StopReason)
