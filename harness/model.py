"""ModelBoundary: the one way to the model, for every purpose. Source: 02-harness, "Model boundary".

One call is one HTTP request. The boundary applies budget, deadline and cancellation, records the step, hands
reasoning to the recorder and strips it, and maps every provider error to one of four kinds.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import TypeVar

from harness.config import HarnessSettings, ModelSettings
from harness.context import RunContext
from harness.errors import BudgetReason, ModelCallError, ModelFailure
from harness.provider import Answer, InvalidReplyError, ProviderCall, RawReply, classify, load_litellm, read_answer
from harness.recorder import AgentModelStep, Purpose, Reasoning, StepOutcome, StepRecord, now
from harness.tools.base import JsonObject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What to ask. `messages` and `tools` go on the wire as they are."""

    purpose: Purpose
    messages: list[JsonObject] = field(repr=False)
    timeout_seconds: float
    tools: list[JsonObject] | None = field(default=None, repr=False)
    attempt: int = 1


class ModelBoundary:
    """The configured model. One for the process; it keeps no state of a run."""

    def __init__(self, settings: ModelSettings, harness: HarnessSettings) -> None:
        self._settings = settings
        self._harness = harness
        self._litellm: ModuleType | None = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._settings.name

    async def warm(self) -> None:
        """Import litellm, which takes seconds, off the event loop."""
        async with self._loading:
            if self._litellm is None:
                self._litellm = await asyncio.to_thread(load_litellm)

    async def prompt_tokens(self, messages: list[JsonObject], tools: list[JsonObject] | None, enough: int) -> int:
        """The prompt's size in tokens, or its bytes while those are at most `enough`.

        No tokenizer makes more tokens than bytes, so the slow count is only made where it can matter.
        """
        size = _text_bytes(messages) + _text_bytes(tools or [])
        if size <= enough:
            return size
        return await asyncio.to_thread(self._count, messages, tools)

    async def complete(self, ctx: RunContext, call: ModelCall, parse: Callable[[Answer], T]) -> T:
        """Make one request and return what `parse` makes of its answer.

        Raises `BudgetExhaustedError` before anything is sent, `RunStoppedError` when the run is over, and
        `ModelCallError` for a call that failed or whose answer `parse` refuses with `InvalidReplyError`.
        """
        await self.warm()
        ctx.check()
        if call.purpose in (Purpose.DIAGNOSIS, Purpose.EVIDENCE_REPAIR):
            ctx.budget.consume_model_call(repair=call.purpose is Purpose.EVIDENCE_REPAIR)
        room = min(self._harness.budget.context_tokens, ctx.budget.tokens_left())
        ctx.budget.check_prompt(await self.prompt_tokens(call.messages, call.tools, room))
        step = _Step(ctx, call)
        answer: Answer | None = None
        try:
            answer = await self._request(ctx, call)
            step.usage = await self._usage(call, answer)
            parsed = parse(answer)
        except InvalidReplyError as error:
            step.record(StepOutcome.INVALID, answer)
            raise ModelCallError(ModelFailure.INVALID) from error
        except ModelCallError as error:
            step.record(StepOutcome(error.kind.value), None)
            if ctx.deadline.remaining() <= 0:
                ctx.budget.exhaust(BudgetReason.DEADLINE)
            raise
        except asyncio.CancelledError:
            step.record(StepOutcome.CANCELLED, None)
            raise
        step.record(StepOutcome.OK, answer)
        await ctx.recorder.checkpoint()
        return parsed

    async def _request(self, ctx: RunContext, call: ModelCall) -> Answer:
        assert self._litellm is not None
        seconds = min(call.timeout_seconds, ctx.deadline.remaining())
        raw = RawReply()
        wire = ProviderCall(
            model=self._settings.name,
            api_base=self._settings.api_base,
            api_key=self._settings.api_key,
            messages=call.messages,
            tools=call.tools,
            timeout_seconds=seconds,
            headers={"X-SuperBiz-Purpose": call.purpose.value, "X-SuperBiz-Run-Id": str(ctx.run_id)},
            raw=raw,
        )
        try:
            async with asyncio.timeout(seconds):
                response = await self._litellm.acompletion(**wire.arguments())
        except TimeoutError as error:
            raise ModelCallError(ModelFailure.TIMEOUT) from error
        except InvalidReplyError:
            raise
        except Exception as error:  # litellm raises many classes; `classify` knows them, the words stay in the cause
            raise ModelCallError(classify(error)) from error
        return read_answer(response, raw)

    async def _usage(self, call: ModelCall, answer: Answer) -> "_Usage":
        if answer.usage is not None:
            return _Usage(*answer.usage, estimated=False)
        counts = await asyncio.to_thread(
            lambda: (self._count(call.messages, call.tools), self._count([answer.message], None))
        )
        return _Usage(*counts, estimated=True)

    def _count(self, messages: list[JsonObject], tools: list[JsonObject] | None) -> int:
        assert self._litellm is not None
        return int(self._litellm.token_counter(model=self._settings.name, messages=messages, tools=tools))


@dataclass(frozen=True, slots=True)
class _Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


class _Step:
    """One attempt, from before its request until it is recorded."""

    def __init__(self, ctx: RunContext, call: ModelCall) -> None:
        self._ctx = ctx
        self._call = call
        self._index = ctx.budget.next_step()
        self._started_at = now()
        self._clock = time.monotonic()
        self.usage = _Usage()

    def record(self, outcome: StepOutcome, answer: Answer | None) -> None:
        usage = self.usage
        cost = answer.cost_usd if answer is not None else 0.0
        self._ctx.budget.consume_tokens(usage.input_tokens, usage.output_tokens, cost)
        reasoning = answer.reasoning if answer is not None else Reasoning()
        tool_names = [call.name[:100] for call in answer.tool_calls] if answer is not None else []
        known = {tool["function"]["name"] for tool in self._call.tools or ()}
        tool_names = [name if name in known else "unknown" for name in tool_names][:50]
        self._ctx.recorder.step(
            StepRecord(
                step_index=self._index,
                purpose=self._call.purpose,
                attempt=self._call.attempt,
                outcome=outcome,
                message_count=len(self._call.messages),
                message_roles=[str(message.get("role")) for message in self._call.messages],
                has_text=bool(answer is not None and answer.text),
                tool_names=tool_names,
                reasoning=reasoning,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                tokens_estimated=usage.estimated,
                cost_usd=cost,
                finish_reason=answer.finish_reason if answer is not None else None,
                started_at=self._started_at,
                duration_ms=round((time.monotonic() - self._clock) * 1000),
            )
        )
        self._ctx.recorder.event(
            AgentModelStep(
                step_index=self._index,
                purpose=self._call.purpose,
                outcome=outcome,
                tool_names=tool_names,
                reasoning_available=reasoning.content is not None,
                reasoning_bytes=reasoning.content_bytes,
            )
        )


def _text_bytes(value: object) -> int:
    """UTF-8 bytes of all texts in a message, with a little for its frame."""
    if isinstance(value, str):
        return len(value.encode()) + 4
    if isinstance(value, dict):
        return 8 + sum(_text_bytes(key) + _text_bytes(entry) for key, entry in value.items())
    if isinstance(value, list):
        return 2 + sum(_text_bytes(entry) for entry in value)
    return 8
