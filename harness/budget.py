"""Budget: counts what a run consumes and says which limit was reached first."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from harness.config import BudgetSettings
from harness.errors import BudgetExhaustedError, BudgetReason


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has consumed so far. `model_calls` counts the agent loop and the repair only."""

    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Budget:
    """The counters of one run. All calls happen on the event loop, so they need no lock.

    Source: 02-harness, "Budgets".
    """

    def __init__(self, settings: BudgetSettings) -> None:
        self.settings = settings
        self.exhausted: BudgetReason | None = None
        self._model_calls = 0
        self._steps = 0
        self._tool_calls: Counter[str] = Counter()
        self._input_tokens = 0
        self._output_tokens = 0
        self._cost_usd = 0.0

    @property
    def usage(self) -> Usage:
        return Usage(
            self._model_calls,
            self._tool_calls.total(),
            self._input_tokens,
            self._output_tokens,
            self._cost_usd,
        )

    @property
    def tool_calls_by_tool(self) -> Mapping[str, int]:
        return dict(self._tool_calls)

    def exhaust(self, reason: BudgetReason) -> BudgetReason:
        """Remember `reason` if it is the first; return it."""
        if self.exhausted is None:
            self.exhausted = reason
        return reason

    def last_agent_call(self) -> BudgetReason | None:
        """Why the next agent call must be the last one, if it must: the call after it is kept for the repair."""
        return BudgetReason.MODEL_CALLS if self._model_calls + 2 >= self.settings.model_calls else None

    def room_for_results(self) -> int:
        """The largest prompt (tokens) after which another call, grown by tool results, still fits."""
        return min(self.tokens_left() // 3, self.settings.context_tokens * 2 // 3)

    def tokens_left(self) -> int:
        return max(0, self.settings.total_tokens - self._input_tokens - self._output_tokens)

    def consume_model_call(self, *, repair: bool) -> None:
        """Count an agent call or the repair. Raise `BudgetExhaustedError` when none is left.

        One call is kept for the repair: the agent loop cannot take it.
        """
        allowed = self.settings.model_calls if repair else self.settings.model_calls - 1
        if self._model_calls >= allowed:
            raise BudgetExhaustedError(self.exhaust(BudgetReason.MODEL_CALLS))
        self._model_calls += 1

    def check_prompt(self, prompt_tokens: int) -> None:
        """Raise `BudgetExhaustedError` when a prompt of this size may not be sent."""
        if prompt_tokens > self.settings.context_tokens:
            raise BudgetExhaustedError(self.exhaust(BudgetReason.CONTEXT_TOKENS))
        if prompt_tokens > self.tokens_left():
            raise BudgetExhaustedError(self.exhaust(BudgetReason.TOKENS))

    def next_step(self) -> int:
        """Number an attempt of a model call of any purpose: 1, 2, ... over the run."""
        self._steps += 1
        return self._steps

    def consume_tokens(self, input_tokens: int, output_tokens: int, cost_usd: float) -> None:
        """Add what a model call of any purpose used."""
        self._input_tokens += input_tokens
        self._output_tokens += output_tokens
        self._cost_usd += cost_usd

    def consume_tool_call(self, tool_name: str) -> BudgetReason | None:
        """Count a tool call; a reason means that it must not run. A refused call is not counted."""
        if self._tool_calls.total() >= self.settings.tool_calls:
            return self.exhaust(BudgetReason.TOOL_CALLS)
        per_tool = self.settings.tool_calls_per_tool.get(tool_name)
        if per_tool is not None and self._tool_calls[tool_name] >= per_tool:
            return self.exhaust(BudgetReason.TOOL_CALLS_PER_TOOL)
        self._tool_calls[tool_name] += 1
        return None
