"""The intent router: one light call, one of three words. Source: 04-diagnosis, "Intent router"."""

from pathlib import Path

from diagnosis.intents import Intent
from diagnosis.messages import opening
from diagnosis.services import Services
from harness.context import RunContext
from harness.errors import FailureCode, ModelCallError, RunFailedError
from harness.model import ModelCall
from harness.progress import Progress, StatusCode, StatusUpdate
from harness.provider import Answer, InvalidReplyError
from harness.recorder import Purpose, RoutingAttempt, RoutingDecided, RoutingFailed, StepOutcome
from harness.retry import HarnessRetryExecutor

PROMPTS = Path(__file__).parent / "prompts"


async def route(
    ctx: RunContext,
    services: Services,
    query: str,
    last_intent: str | None,
    last_user_query: str | None,
    progress: Progress,
) -> Intent:
    """Decide who answers. Never guesses: raises `RunFailedError(ROUTING_UNAVAILABLE)` without a valid word."""
    progress(StatusUpdate(code=StatusCode.ROUTING))
    data = {"query": query, "last_intent": last_intent, "last_user_query": last_user_query}
    messages = opening("intent_router", data, PROMPTS)
    attempts = 0

    async def attempt(number: int) -> Intent:
        nonlocal attempts
        attempts = number
        call = ModelCall(
            purpose=Purpose.INTENT_ROUTER,
            messages=messages,
            timeout_seconds=services.settings.timeouts.router,
            attempt=number,
        )
        outcome = StepOutcome.CANCELLED
        try:
            intent = await services.model.complete(ctx, call, _parse)
            outcome = StepOutcome.OK
        except ModelCallError as error:
            outcome = StepOutcome(error.kind.value)
            raise
        finally:
            ctx.recorder.event(RoutingAttempt(attempt=number, outcome=outcome))
        return intent

    try:
        intent = await HarnessRetryExecutor().run(ctx.retry_policies.intent_router, attempt)
    except ModelCallError as error:
        ctx.recorder.event(RoutingFailed(attempts=attempts))
        raise RunFailedError(FailureCode.ROUTING_UNAVAILABLE) from error
    ctx.recorder.event(RoutingDecided(intent=intent.value))
    return intent


def _parse(answer: Answer) -> Intent:
    try:
        return Intent(answer.whole_text().strip())
    except ValueError as error:
        raise InvalidReplyError("not one of the three words") from error
