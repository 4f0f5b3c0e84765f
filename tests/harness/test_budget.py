"""What a run may consume, and which limit is named first."""

import pytest

from harness.budget import Budget
from harness.config import BudgetSettings
from harness.errors import BudgetExhaustedError, BudgetReason


def test_the_last_model_call_is_kept_for_the_repair() -> None:
    budget = Budget(BudgetSettings(model_calls=3))
    budget.consume_model_call(repair=False)
    budget.consume_model_call(repair=False)
    with pytest.raises(BudgetExhaustedError) as refused:
        budget.consume_model_call(repair=False)
    assert refused.value.reason is BudgetReason.MODEL_CALLS
    budget.consume_model_call(repair=True)
    with pytest.raises(BudgetExhaustedError):
        budget.consume_model_call(repair=True)
    assert budget.usage.model_calls == 3


def test_the_call_before_the_kept_one_is_the_agents_last() -> None:
    budget = Budget(BudgetSettings(model_calls=4))
    seen = []
    for _ in range(3):
        seen.append(budget.last_agent_call())
        budget.consume_model_call(repair=False)
    assert seen == [None, None, BudgetReason.MODEL_CALLS]


@pytest.mark.parametrize(
    ("settings", "tool", "reason"),
    [
        (
            BudgetSettings(tool_calls=2, tool_calls_per_tool={"query_logs": 2}),
            "query_mysql",
            BudgetReason.TOOL_CALLS,
        ),
        (
            BudgetSettings(tool_calls=9, tool_calls_per_tool={"query_logs": 2}),
            "query_logs",
            BudgetReason.TOOL_CALLS_PER_TOOL,
        ),
    ],
)
def test_tool_calls_stop_at_their_limit_and_refused_ones_are_not_counted(
    settings: BudgetSettings, tool: str, reason: BudgetReason
) -> None:
    budget = Budget(settings)
    assert [budget.consume_tool_call(tool) for _ in range(4)] == [None, None, reason, reason]
    assert budget.usage.tool_calls == 2
    assert budget.exhausted is reason


def test_a_tool_without_a_limit_of_its_own_counts_in_the_total() -> None:
    budget = Budget(BudgetSettings(tool_calls=2, tool_calls_per_tool={}))
    assert [budget.consume_tool_call("") for _ in range(3)] == [None, None, BudgetReason.TOOL_CALLS]


@pytest.mark.parametrize(
    ("prompt", "used", "reason"),
    [
        (100, 0, None),
        (101, 0, BudgetReason.CONTEXT_TOKENS),
        (100, 900, None),
        (100, 901, BudgetReason.TOKENS),
    ],
)
def test_a_prompt_must_fit_the_context_and_what_is_left(prompt: int, used: int, reason: BudgetReason | None) -> None:
    budget = Budget(BudgetSettings(context_tokens=100, total_tokens=1000))
    budget.consume_tokens(used, 0, 0.0)
    if reason is None:
        budget.check_prompt(prompt)
    else:
        with pytest.raises(BudgetExhaustedError) as refused:
            budget.check_prompt(prompt)
        assert refused.value.reason is reason


def test_the_first_reason_stays() -> None:
    budget = Budget(BudgetSettings())
    budget.exhaust(BudgetReason.TOKENS)
    budget.exhaust(BudgetReason.DEADLINE)
    assert budget.exhausted is BudgetReason.TOKENS
