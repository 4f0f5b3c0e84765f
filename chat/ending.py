"""How a run ends: from what its work did to its one final state, and to the last two events of its stream."""

from dataclasses import dataclass
from typing import Literal

from audit.models import RunStatus
from audit.runs import FinalState
from chat.messages import failure_message
from chat.stream import Event
from diagnosis.intents import Intent
from diagnosis.released import Released
from harness.budget import Budget
from harness.errors import (
    BudgetExhaustedError,
    BudgetReason,
    FailureCode,
    RunFailedError,
    RunStoppedError,
    StopReason,
    StoreUnavailableError,
)

STOPPED = {
    StopReason.CLIENT_GONE: FailureCode.CANCELLED,
    StopReason.CANCELLED: FailureCode.CANCELLED,
    StopReason.DEADLINE: FailureCode.DEADLINE_EXCEEDED,
    StopReason.SHUTTING_DOWN: FailureCode.SHUTTING_DOWN,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """Either something was released, or there is a code that says why not."""

    released: Released | None
    failure: FailureCode | None

    @property
    def status(self) -> RunStatus:
        if self.released is not None:
            return RunStatus.SUCCEEDED if self.released.outcome == "SUCCESS" else RunStatus.FALLBACK
        return RunStatus.CANCELLED if self.failure is FailureCode.CANCELLED else RunStatus.FAILED

    @property
    def recorded_code(self) -> str | None:
        """What the run's row says: a cancelled run did not fail."""
        return self.failure.value if self.failure is not None and self.status is RunStatus.FAILED else None

    def final_state(self, intent: Intent | None, budget: Budget) -> FinalState:
        """The row's final state. `released_content` is the very data of the `content` event."""
        usage, released = budget.usage, self.released
        return FinalState(
            status=self.status,
            intent=intent,
            model_calls=usage.model_calls,
            tool_calls=usage.tool_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost_usd,
            budget_exhausted_reason=budget.exhausted,
            fallback_type=released.fallback_type if released is not None else None,
            fallback_reason=released.fallback_reason if released is not None else None,
            failure_code=self.recorded_code,
            released_content=content(released) if released is not None else None,
            published_result=released.published_result if released is not None else None,
        )

    def events(self, language: str) -> tuple[Event, Literal["SUCCESS", "FALLBACK", "FAILED"]]:
        """`content` or `failure`, and the outcome of `done`."""
        if self.released is not None:
            return Event("content", content(self.released)), self.released.outcome
        assert self.failure is not None
        data = {"code": self.failure.value, "message": failure_message(self.failure, language)}
        return Event("failure", data), "FAILED"


def content(released: Released) -> dict[str, object]:
    return {"content_type": released.content_type, "payload": released.payload}


def succeeded(released: Released) -> Ending:
    return Ending(released, None)


def failed(code: FailureCode) -> Ending:
    return Ending(None, code)


def failure_code(error: BaseException) -> FailureCode | None:
    """The code of an error that the harness raises on purpose; None for any other."""
    match error:
        case RunFailedError():
            return error.code
        case RunStoppedError():
            return STOPPED[error.reason]
        case StoreUnavailableError():
            return FailureCode.STORE_UNAVAILABLE
        case BudgetExhaustedError():
            late = error.reason is BudgetReason.DEADLINE
            return FailureCode.DEADLINE_EXCEEDED if late else FailureCode.BUDGET_EXHAUSTED
        case _:
            return None
