"""The demo model: a deterministic offline stand-in for a language model, behind litellm's own provider interface.

Without `SUPERBIZ_MODEL` it serves as `demo/offline`, so that the whole real path runs: routing, tools, both
guards, release. It follows plain rules, says only what the tools returned, and says that it is the demo model.
Importing this module imports litellm, which takes seconds. Source: 07-run, "Two commands".
"""

import json
from collections.abc import Mapping
from typing import Any

from litellm.llms.custom_llm import CustomLLM
from litellm.types.utils import ModelResponse

from superbiz.demo.offline.answers import answer_from
from superbiz.demo.offline.conversation import Conversation, JsonObject, UnreadableError
from superbiz.demo.offline.queries import ROUNDS, first_round, next_round
from superbiz.demo.offline.report import draft, mended, question_of
from superbiz.demo.offline.review import review
from superbiz.demo.offline.routing import about, route

_PLAN_ZH = (
    "PLAN:\n1. 在内部文档中查找相关的手册和错误码\n2. 查看问题时段内的日志，找出最突出的模式\n"
    "3. 核对业务数据库中的当前状态\n4. 对照各项证据，整理报告并写明限制"
)
_PLAN_EN = (
    "PLAN:\n1. Look for runbooks and error codes in the internal documents\n"
    "2. Read the logs of that time and find what stands out\n3. Check the current state in the business database\n"
    "4. Compare the evidence and write the report with its limits"
)


class DemoModel(CustomLLM):
    """Serves every purpose. It keeps nothing between calls."""

    async def acompletion(self, *args: Any, **request: Any) -> ModelResponse:
        """Answer one call. litellm hands over `messages`, `headers` and `optional_params` by name."""
        purpose = {name.lower(): value for name, value in (request.get("headers") or {}).items()}
        offered = (request.get("optional_params") or {}).get("tools") or []
        conversation = Conversation(
            purpose=purpose.get("x-superbiz-purpose", ""),
            messages=request["messages"],
            tools={tool["function"]["name"]: tool["function"] for tool in offered},
        )
        try:
            message = _reply(conversation)
        except UnreadableError:
            message = _text(about(""))
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        return ModelResponse(
            model="demo/offline",
            choices=[{"index": 0, "finish_reason": reason, "message": message}],
            usage=_usage(conversation, message),
        )


def _reply(conversation: Conversation) -> JsonObject:
    match conversation.purpose:
        case "intent_router":
            data = conversation.data()
            return _text(route(str(data.get("query", "")), data.get("last_intent")))
        case "knowledge_answer":
            return _json(answer_from(conversation.query(), conversation.data().get("evidence") or []))
        case "diagnosis":
            return _investigate(conversation)
        case "evidence_repair":
            return _json(mended(conversation))
        case "semantic_guard":
            return _json(review(conversation.data()))
        case _:
            return _text(about(conversation.query()))


def _investigate(conversation: Conversation) -> JsonObject:
    """Ask the tools, at most `ROUNDS` times; then report."""
    question, calls, asked = question_of(conversation), conversation.calls(), conversation.rounds()
    asks = []
    if asked == 0:
        asks = first_round(question, conversation.tools)
    elif asked < ROUNDS:
        asks = next_round(question, conversation.tools, calls)
    if not asks:
        return _json(draft(question, calls))
    plan = (_PLAN_ZH if question.chinese else _PLAN_EN) if asked == 0 else None
    made = [ask.on_the_wire(number) for number, ask in enumerate(asks, start=len(calls))]
    return {"role": "assistant", "content": plan, "tool_calls": made}


def _text(content: str) -> JsonObject:
    return {"role": "assistant", "content": content}


def _json(value: JsonObject) -> JsonObject:
    return _text(json.dumps(value, ensure_ascii=False))


def _usage(conversation: Conversation, message: Mapping[str, Any]) -> dict[str, int]:
    """About four bytes a token, so that budgets and the audit have figures to show."""
    sent = len(json.dumps(list(conversation.messages), ensure_ascii=False).encode()) // 4 + 1
    made = len(json.dumps(message, ensure_ascii=False).encode()) // 4 + 1
    return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}
