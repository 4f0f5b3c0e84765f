"""One entry for the three executors, and the one place where their errors become failure codes."""

from typing import assert_never

from diagnosis.answers import answer_chat, answer_from_knowledge
from diagnosis.diagnose import diagnose
from diagnosis.intents import Intent
from diagnosis.released import Released
from diagnosis.services import Services
from harness.context import RunContext
from harness.errors import (
    BudgetExhaustedError,
    BudgetReason,
    FailureCode,
    ModelCallError,
    RunFailedError,
    RunStoppedError,
    StopReason,
    StoreUnavailableError,
)
from harness.progress import Progress, StatusCode, StatusUpdate
from harness.recorder import ReleaseDecided
from harness.tools.base import JsonObject

_STOPPED = {
    StopReason.CLIENT_GONE: FailureCode.CANCELLED,
    StopReason.CANCELLED: FailureCode.CANCELLED,
    StopReason.DEADLINE: FailureCode.DEADLINE_EXCEEDED,
    StopReason.SHUTTING_DOWN: FailureCode.SHUTTING_DOWN,
}


async def execute(
    ctx: RunContext,
    services: Services,
    intent: Intent,
    query: str,
    previous_turn: JsonObject | None,
    language: str,
    progress: Progress,
) -> Released:
    """Answer `query` by the executor of `intent`.

    `language` (`zh-hans` or `en`) is that of fixed texts; the model answers in the language of the query.
    Raises `RunFailedError` when there is nothing to publish; a cancelled run raises `CancelledError`.
    """
    try:
        released = await _dispatch(ctx, services, intent, query, previous_turn, language, progress)
    except ModelCallError as error:
        late = ctx.deadline.remaining() <= 0
        raise RunFailedError(FailureCode.DEADLINE_EXCEEDED if late else FailureCode.MODEL_UNAVAILABLE) from error
    except BudgetExhaustedError as error:
        late = error.reason is BudgetReason.DEADLINE
        raise RunFailedError(FailureCode.DEADLINE_EXCEEDED if late else FailureCode.BUDGET_EXHAUSTED) from error
    except StoreUnavailableError as error:
        raise RunFailedError(FailureCode.STORE_UNAVAILABLE) from error
    except RunStoppedError as error:
        raise RunFailedError(_STOPPED[error.reason]) from error
    progress(StatusUpdate(code=StatusCode.RELEASING))
    ctx.recorder.event(
        ReleaseDecided(
            outcome=released.outcome, fallback_type=released.fallback_type, fallback_reason=released.fallback_reason
        )
    )
    return released


async def _dispatch(
    ctx: RunContext,
    services: Services,
    intent: Intent,
    query: str,
    previous_turn: JsonObject | None,
    language: str,
    progress: Progress,
) -> Released:
    match intent:
        case Intent.SYSTEM_CHAT:
            return await answer_chat(ctx, services, query, progress)
        case Intent.KNOWLEDGE_QUERY:
            return await answer_from_knowledge(ctx, services, query, language, progress)
        case Intent.DIAGNOSIS:
            return await diagnose(ctx, services, query, previous_turn, language, progress)
    assert_never(intent)
