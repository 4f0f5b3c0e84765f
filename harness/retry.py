"""The fixed retry matrix, and the one place that repeats an operation."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from harness.errors import ModelCallError, ModelFailure

T = TypeVar("T")

_TECHNICAL = frozenset({ModelFailure.TIMEOUT, ModelFailure.TRANSPORT, ModelFailure.INVALID})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`max_attempts` counts the first attempt too."""

    max_attempts: int
    retryable: frozenset[ModelFailure] = frozenset()


@dataclass(frozen=True, slots=True)
class HarnessRetryPolicies:
    """Source: 02-harness, "Retries". Configuration cannot change these."""

    intent_router: RetryPolicy = field(default=RetryPolicy(2, _TECHNICAL))
    diagnosis_agent: RetryPolicy = field(default=RetryPolicy(1))
    tool_call: RetryPolicy = field(default=RetryPolicy(1))
    semantic_guard: RetryPolicy = field(default=RetryPolicy(2, _TECHNICAL))
    evidence_repair: RetryPolicy = field(default=RetryPolicy(1))


class HarnessRetryExecutor:
    """Repeats one operation with the same input while its policy allows."""

    async def run(self, policy: RetryPolicy, operation: Callable[[int], Awaitable[T]]) -> T:
        """Call `operation(attempt)` with attempt 1, 2, ...; raise its last `ModelCallError`.

        Budget, deadline and cancellation errors are never repeated.
        """
        for attempt in range(1, policy.max_attempts + 1):
            try:
                return await operation(attempt)
            except ModelCallError as error:
                if attempt == policy.max_attempts or error.kind not in policy.retryable:
                    raise
        raise AssertionError("a policy allows at least one attempt")
