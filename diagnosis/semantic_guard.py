"""SemanticGuard: one isolated review of the whole draft against the verified evidence.

A fresh conversation without tools, history or ids; it can say SUPPORTED or UNSUPPORTED and nothing else.
Source: 04-diagnosis, "SemanticGuard".
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from diagnosis.messages import opening, to_json
from diagnosis.services import Services
from harness.context import Deadline, RunContext
from harness.errors import BudgetExhaustedError, BudgetReason, ModelCallError, ModelFailure
from harness.model import ModelCall
from harness.provider import Answer, InvalidReplyError
from harness.recorder import Purpose, SemanticAttempt, SemanticDecided, StepOutcome
from harness.reply import json_reply
from harness.retry import HarnessRetryExecutor
from harness.strict_json import StrictJsonError
from harness.tools.base import JsonObject, StrictModel


class Verdict(StrEnum):
    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"
    UNAVAILABLE = "UNAVAILABLE"  # the review could not be had; never a model's word


class Review(StrictModel):
    """The guard's whole output; `reason` goes to the audit only."""

    verdict: Literal["SUPPORTED", "UNSUPPORTED"]
    reason: Annotated[str, Field(max_length=20_000)]


async def review(ctx: RunContext, services: Services, review_input: JsonObject) -> tuple[Verdict, str]:
    """The verdict, and for UNAVAILABLE a fixed word why. Raises only when the run itself must end."""
    settings = services.settings
    if len(to_json(review_input).encode()) > settings.semantic.input_bytes:
        ctx.budget.exhaust(BudgetReason.SEMANTIC_INPUT)
        return _unavailable(ctx, "SEMANTIC_INPUT")
    messages = opening("semantic_guard", review_input)
    total = Deadline.after(settings.timeouts.semantic_total)

    async def attempt(number: int) -> Review:
        if total.remaining() <= 0:
            raise ModelCallError(ModelFailure.TIMEOUT)
        call = ModelCall(
            purpose=Purpose.SEMANTIC_GUARD,
            messages=messages,
            timeout_seconds=min(settings.timeouts.semantic_attempt, total.remaining()),
            attempt=number,
        )
        outcome = StepOutcome.CANCELLED
        try:
            decided = await services.model.complete(ctx, call, _parse)
            outcome = StepOutcome.OK
        except ModelCallError as error:
            outcome = StepOutcome(error.kind.value)
            raise
        finally:
            ctx.recorder.event(SemanticAttempt(attempt=number, outcome=outcome))
        return decided

    try:
        decided = await HarnessRetryExecutor().run(ctx.retry_policies.semantic_guard, attempt)
    except ModelCallError as error:
        return _unavailable(ctx, error.kind.value)
    except BudgetExhaustedError as error:
        return _unavailable(ctx, error.reason.value)
    ctx.recorder.event(SemanticDecided(verdict=decided.verdict, reason=decided.reason[:1000]))
    return Verdict(decided.verdict), decided.verdict


def _unavailable(ctx: RunContext, why: str) -> tuple[Verdict, str]:
    ctx.recorder.event(SemanticDecided(verdict=Verdict.UNAVAILABLE.value))
    return Verdict.UNAVAILABLE, why


def _parse(answer: Answer) -> Review:
    try:
        return Review.model_validate(json_reply(answer))
    except (ValidationError, StrictJsonError) as error:
        raise InvalidReplyError("the verdict is malformed") from error
