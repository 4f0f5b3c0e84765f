"""The one ReAct agent: pydantic-ai's tool loop over the harness's model and tool boundaries.

The framework keeps the loop; the wire is ours. Each call that the model asks for is handed to the framework
under an internal id as data, so that the tool boundary judges ids, names and arguments, and its result goes
back under the provider's own id. Nothing that the framework would add reaches the model.
"""

import itertools
from dataclasses import dataclass, field

from pydantic_ai import Agent, Tool, UsageLimits
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from diagnosis.messages import opening, to_json
from diagnosis.plan import read_plan
from diagnosis.services import Services
from harness.boundary import RunTools, WireToolCall
from harness.context import RunContext
from harness.errors import BudgetReason
from harness.model import ModelCall
from harness.progress import Progress, StatusCode, StatusUpdate
from harness.provider import Answer
from harness.recorder import PlanPublished, Purpose
from harness.tools.base import JsonObject

_TOOL = "call"


@dataclass(slots=True)
class Conversation:
    """What went over the wire so far; the repair continues it."""

    messages: list[JsonObject] = field(repr=False)
    draft_text: str = field(default="", repr=False)


class _HarnessModel(Model[None]):
    """pydantic-ai's model, over `ModelBoundary`. Lives for one run."""

    def __init__(
        self, ctx: RunContext, services: Services, conversation: Conversation, tools: RunTools, progress: Progress
    ) -> None:
        super().__init__()
        self._ctx = ctx
        self._services = services
        self._conversation = conversation
        self._tools = tools
        self._progress = progress
        self._definitions = services.tools.definitions()
        self._numbers = itertools.count(1)
        self._pending: dict[str, WireToolCall] = {}
        self._calls = 0

    @property
    def model_name(self) -> str:
        return self._services.model.name

    @property
    def system(self) -> str:
        return "litellm"

    async def run_tool(self, number: str) -> str:
        """Run the pending call that the framework was given as `number`."""
        return to_json(await self._tools.execute(self._pending[number]))

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One turn: put the results of the last calls on the wire, ask, hand over the calls or the draft."""
        self._append_results(messages[-1])
        if self._calls:
            self._progress(StatusUpdate(code=StatusCode.DRAFTING))
        last = await self._last_call()
        if last is not None:
            self._ctx.budget.exhaust(last)
        call = ModelCall(
            purpose=Purpose.DIAGNOSIS,
            messages=self._conversation.messages,
            # The last call goes out without tools, so that the agent can still write a report.
            tools=None if last is not None else self._definitions,
            timeout_seconds=self._services.settings.timeouts.agent_call,
        )
        answer = await self._services.model.complete(self._ctx, call, lambda answer: answer)
        self._calls += 1
        calls = answer.tool_calls if last is None else []
        if self._calls == 1:
            self._publish_plan(answer)
        if not calls:
            self._finish(answer)
            return ModelResponse(parts=[TextPart(self._conversation.draft_text)])
        self._conversation.messages.append({**answer.message, "content": None})
        self._pending = {str(next(self._numbers)): call for call in calls}
        return ModelResponse(
            parts=[ToolCallPart(_TOOL, {"number": number}, tool_call_id=number) for number in self._pending]
        )

    async def _last_call(self) -> BudgetReason | None:
        budget, settings = self._ctx.budget, self._services.settings.budget
        if self._ctx.deadline.remaining() < settings.report_reserve_seconds:
            return BudgetReason.DEADLINE
        reason = budget.last_agent_call()
        if reason is None:
            room = budget.room_for_results()
            size = await self._services.model.prompt_tokens(self._conversation.messages, self._definitions, room)
            if size > room:
                tokens_left = budget.tokens_left() // 3 < settings.context_tokens * 2 // 3
                reason = BudgetReason.TOKENS if tokens_left else BudgetReason.CONTEXT_TOKENS
        return reason

    def _append_results(self, message: ModelMessage) -> None:
        """The framework returns results by internal id; they go out in the order of the calls, under their own."""
        results = {part.tool_call_id: part for part in message.parts if isinstance(part, ToolReturnPart)}
        for number, call in self._pending.items():
            self._conversation.messages.append(
                {"role": "tool", "tool_call_id": call.tool_call_id or "", "content": str(results[number].content)}
            )
        self._pending = {}

    def _publish_plan(self, answer: Answer) -> None:
        steps = read_plan(answer.text, answer.tool_calls) if answer.tool_calls else []
        self._ctx.recorder.event(PlanPublished(steps=len(steps), default_plan=not steps))
        self._progress(StatusUpdate(code=StatusCode.DIAGNOSIS_PLAN, plan=steps))

    def _finish(self, answer: Answer) -> None:
        """Keep the draft. One that the provider cut off is no draft: half a report must not be mended by guess."""
        text = answer.text or ""
        self._conversation.messages.append({"role": "assistant", "content": text})
        self._conversation.draft_text = "" if answer.finish_reason == "length" else text


async def investigate(
    ctx: RunContext, services: Services, query: str, previous_turn: JsonObject | None, progress: Progress
) -> Conversation:
    """Run the agent until it writes its draft; an agent that says nothing leaves an empty one.

    Raises `ModelCallError` when a model call fails (there is no retry) and `BudgetExhaustedError` when no
    report can be had. Source: 04-diagnosis, "The agent".
    """
    conversation = Conversation(opening("diagnosis", {"query": query, "previous_turn": previous_turn}))
    model = _HarnessModel(ctx, services, conversation, services.tools.open(ctx, progress), progress)
    tool = Tool[None].from_schema(
        model.run_tool,
        name=_TOOL,
        description=None,
        json_schema={"type": "object", "properties": {"number": {"type": "string"}}},
        sequential=True,
    )
    agent = Agent[None, str](model, output_type=str, tools=[tool], retries=0)
    try:
        await agent.run(query, usage_limits=UsageLimits(request_limit=None))
    except UnexpectedModelBehavior:
        conversation.draft_text = ""  # the framework's word for an empty reply
    return conversation
