"""The fixed matrix: what is repeated, how often, and what never is."""

import pytest

from harness.errors import BudgetExhaustedError, BudgetReason, ModelCallError, ModelFailure
from harness.retry import HarnessRetryExecutor, HarnessRetryPolicies, RetryPolicy

POLICIES = HarnessRetryPolicies()


@pytest.mark.parametrize(
    ("policy", "attempts"),
    [
        (POLICIES.intent_router, 2),
        (POLICIES.diagnosis_agent, 1),
        (POLICIES.tool_call, 1),
        (POLICIES.semantic_guard, 2),
        (POLICIES.evidence_repair, 1),
    ],
)
@pytest.mark.parametrize("kind", [ModelFailure.TIMEOUT, ModelFailure.TRANSPORT, ModelFailure.INVALID])
async def test_technical_failures_are_repeated_as_the_matrix_says(
    policy: RetryPolicy, attempts: int, kind: ModelFailure
) -> None:
    seen: list[int] = []

    async def fail(attempt: int) -> None:
        seen.append(attempt)
        raise ModelCallError(kind)

    with pytest.raises(ModelCallError):
        await HarnessRetryExecutor().run(policy, fail)
    assert seen == list(range(1, attempts + 1))


@pytest.mark.parametrize(
    "error", [ModelCallError(ModelFailure.REJECTED), BudgetExhaustedError(BudgetReason.TOKENS), KeyError("other")]
)
async def test_refusals_and_budgets_are_never_repeated(error: Exception) -> None:
    seen: list[int] = []

    async def fail(attempt: int) -> None:
        seen.append(attempt)
        raise error

    with pytest.raises(type(error)):
        await HarnessRetryExecutor().run(POLICIES.semantic_guard, fail)
    assert seen == [1]


async def test_a_second_attempt_that_works_is_the_result() -> None:
    async def work(attempt: int) -> str:
        if attempt == 1:
            raise ModelCallError(ModelFailure.TIMEOUT)
        return "done"

    assert await HarnessRetryExecutor().run(POLICIES.intent_router, work) == "done"
