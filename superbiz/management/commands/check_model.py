"""`manage.py check_model`: one tiny call per purpose against the configured provider."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from pydantic import ValidationError

from chat.routing import PROMPTS as CHAT_PROMPTS
from diagnosis.intents import Intent
from diagnosis.messages import PROMPTS, opening
from diagnosis.semantic_guard import Review
from harness.budget import Budget
from harness.context import Deadline, RunContext
from harness.errors import ModelCallError
from harness.model import ModelBoundary, ModelCall
from harness.provider import Answer, InvalidReplyError
from harness.recorder import Purpose, StepRecord, ToolRecord, TraceDetails
from harness.reply import json_reply
from harness.strict_json import StrictJsonError
from harness.tools.base import JsonObject
from superbiz.conf import Settings

_SECONDS = 60.0
_TOOL: JsonObject = {
    "type": "function",
    "function": {
        "name": "query_logs",
        "description": "Searches log lines. Call it before you answer.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "words to look for"}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
_DRAFT: JsonObject = {
    "conclusion": None,
    "analysis": [{"analysis_id": "a1", "kind": "NORMAL", "text": "The pool was exhausted: 50 of 50."}],
    "action_plan": [],
    "recommendations": [],
    "limitations": {"scope": "order-service", "missing_info": []},
}
_EVIDENCE = {"source_type": "LOG", "source": "APPLICATION", "events": [{"message": "HikariPool-1 active=50 max=50"}]}


@dataclass(frozen=True)
class Check:
    """One call: what to send, and what must come back."""

    purpose: Purpose
    works: str
    messages: list[JsonObject]
    accept: Callable[[Answer], bool]
    tools: list[JsonObject] | None = None


class LastStep:
    """Keeps the step of the last call; nothing of this command is stored."""

    def __init__(self) -> None:
        self.record: StepRecord | None = None

    def event(self, details: TraceDetails, at: datetime | None = None) -> None:
        return

    def step(self, record: StepRecord) -> None:
        self.record = record

    def tool(self, record: ToolRecord) -> None:
        return

    async def checkpoint(self) -> None:
        return


class Command(BaseCommand):
    help = "Make one tiny call per purpose to the configured model; say what works and what does not."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--jsonl", action="store_true", help="print one JSON line per purpose")

    def handle(self, *args: Any, **options: Any) -> None:
        results = asyncio.run(_run(settings.SUPERBIZ))
        for result in results:
            if options["jsonl"]:
                self.stdout.write(json.dumps(result))
            else:
                mark = self.style.SUCCESS("ok  ") if result["ok"] else self.style.ERROR("FAIL")
                self.stdout.write(f"{mark} {result['purpose']:<17} {result['checked']}: {result['outcome']}")
        if not options["jsonl"]:
            usage = any(result["usage_reported"] for result in results)
            reasoning = any(result["reasoning"] for result in results)
            self.stdout.write(f"     token usage: {'reported' if usage else 'not reported; it will be estimated'}")
            self.stdout.write(f"     reasoning: {'returned' if reasoning else 'not returned'}")
        if not all(result["ok"] for result in results):
            raise SystemExit(1)


async def _run(tree: Settings) -> list[dict[str, Any]]:
    model = ModelBoundary(tree.model, tree.harness)
    return [await _try(model, tree, check) for check in _checks()]


async def _try(model: ModelBoundary, tree: Settings, check: Check) -> dict[str, Any]:
    recorder = LastStep()
    ctx = RunContext(uuid4(), uuid4(), Deadline.after(_SECONDS), Budget(tree.harness.budget), recorder)
    call = ModelCall(check.purpose, check.messages, _SECONDS, check.tools)

    def parse(answer: Answer) -> Answer:
        if not check.accept(answer):
            raise InvalidReplyError("the reply has another form than its purpose needs")
        return answer

    try:
        await model.complete(ctx, call, parse)
        outcome, ok = "works", True
    except ModelCallError as error:
        outcome, ok = error.kind.value, False
    step = recorder.record
    return {
        "purpose": check.purpose.value,
        "checked": check.works,
        "ok": ok,
        "outcome": outcome,
        "usage_reported": step is not None and step.input_tokens > 0 and not step.tokens_estimated,
        "reasoning": step is not None and step.reasoning.content is not None,
        "duration_ms": step.duration_ms if step is not None else None,
    }


def _checks() -> list[Check]:
    question = "Do payments of order-service time out?"
    diagnosis = opening("diagnosis", {"query": question, "previous_turn": None}, PROMPTS)
    told = {"errors": [{"path": "$", "code": "SCHEMA_INVALID", "message": "Send the report as one JSON object."}]}
    repair = [
        *diagnosis,
        {"role": "assistant", "content": "I could not look anything up."},
        {"role": "user", "content": json.dumps(told)},
    ]
    knowledge = {"document_id": "guide", "source": "guide.md", "title": "Guide", "breadcrumb": "Guide"}
    evidence = [{**knowledge, "excerpt": "ERR_TIMEOUT means that the payment channel did not answer in time."}]
    review = {
        "query": question,
        "draft": _DRAFT,
        "evidence": [{"analysis_id": "a1", "analysis_text": "50 of 50", "verified_evidence": [_EVIDENCE]}],
    }
    routed = {"query": "Hello, what can you do?", "last_intent": None, "last_user_query": None}
    return [
        Check(Purpose.INTENT_ROUTER, "one word", opening("intent_router", routed, CHAT_PROMPTS), _is_intent),
        Check(Purpose.SYSTEM_CHAT, "text", opening("system_chat", {"query": "What can you do?"}), _is_text),
        Check(
            Purpose.KNOWLEDGE_ANSWER,
            "JSON",
            opening("knowledge_answer", {"query": "What does ERR_TIMEOUT mean?", "evidence": evidence}),
            _has_keys("answer", "references", "limitations"),
        ),
        Check(Purpose.DIAGNOSIS, "tools", diagnosis, _calls_tool, [_TOOL]),
        Check(Purpose.EVIDENCE_REPAIR, "JSON", repair, _has_keys("conclusion", "analysis", "limitations")),
        Check(Purpose.SEMANTIC_GUARD, "JSON", opening("semantic_guard", review), _is_review),
    ]


def _is_intent(answer: Answer) -> bool:
    return answer.whole_text().strip() in set(Intent)


def _is_text(answer: Answer) -> bool:
    return bool(answer.whole_text())


def _calls_tool(answer: Answer) -> bool:
    return any(call.name == "query_logs" and call.tool_call_id for call in answer.tool_calls)


def _has_keys(*keys: str) -> Callable[[Answer], bool]:
    def accept(answer: Answer) -> bool:
        try:
            return set(keys) <= set(json_reply(answer))
        except StrictJsonError:
            return False

    return accept


def _is_review(answer: Answer) -> bool:
    try:
        Review.model_validate(json_reply(answer))
    except (StrictJsonError, ValidationError):
        return False
    return True
