"""litellm as we use it: quiet, offline but for the model, one request a call; and its answers in our terms."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from harness.boundary import WireToolCall
from harness.errors import HarnessError, ModelFailure
from harness.plain_text import plain_text
from harness.recorder import Reasoning
from harness.tools.base import JsonObject

PROVIDERS: dict[str, Callable[[], Any]] = {}
"""Providers beside litellm's own, by the first part of the model's name: makers of `litellm.CustomLLM`.

Filled while the process is wired; the makers run after litellm is imported.
"""

MAX_REASONING_CHARACTERS = 32_000
_REASONING_FIELDS = ("reasoning_content", "reasoningContent", "reasoning", "thinking")
_FINISH_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})


class InvalidReplyError(HarnessError):
    """A reply that its purpose cannot use: empty, cut off, or of the wrong form."""


class RawReply:
    """The reply as it came, for one question: which tool calls came without an id?

    litellm invents an id for those, and a tool call without an id of the model's own must be refused.
    """

    def __init__(self) -> None:
        self._text: object = None

    def __call__(self, details: Mapping[str, Any]) -> None:
        """litellm's `logger_fn`; called before and after the request."""
        if details.get("log_event_type") == "post_api_call":
            self._text = details.get("original_response")

    def without_id(self) -> set[int]:
        """Positions of the tool calls without an id, where the provider speaks OpenAI's format."""
        try:
            reply = json.loads(self._text) if isinstance(self._text, str) else None
            calls = reply["choices"][0]["message"]["tool_calls"] if isinstance(reply, dict) else []
            return {position for position, call in enumerate(calls or []) if not call.get("id")}
        except (ValueError, LookupError, TypeError, AttributeError):
            return set()


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """One request, as litellm takes it."""

    model: str
    api_base: str | None
    api_key: str | None = field(repr=False)
    messages: list[JsonObject] = field(repr=False)
    tools: list[JsonObject] | None = field(repr=False)
    timeout_seconds: float
    headers: Mapping[str, str]
    raw: "RawReply"

    def arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": self.messages,
            "timeout": self.timeout_seconds,
            "num_retries": 0,
            "max_retries": 0,
            "extra_headers": dict(self.headers),
            "logger_fn": self.raw,
        }
        if self.api_base is not None:
            arguments["api_base"] = self.api_base
        if self.api_key is not None:
            arguments["api_key"] = self.api_key
        if self.tools:
            arguments["tools"] = self.tools
        return arguments


@dataclass(frozen=True, slots=True)
class Answer:
    """A provider's reply. `message` goes back on the wire; it holds no reasoning."""

    message: JsonObject = field(repr=False)
    text: str | None = field(repr=False)
    tool_calls: list[WireToolCall] = field(repr=False)
    finish_reason: str | None
    reasoning: Reasoning
    usage: tuple[int, int] | None
    cost_usd: float

    def whole_text(self) -> str:
        """The text of a reply that must be text. Raises `InvalidReplyError` when it is empty or cut off."""
        if self.finish_reason == "length" or self.text is None or not self.text.strip():
            raise InvalidReplyError("the reply is empty or cut off")
        return self.text


def load_litellm() -> ModuleType:
    """Import litellm without its telemetry, logging, callbacks and look-ups. Takes seconds: not on the event loop."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.disable_hf_tokenizer_download = True
    litellm.modify_params = True  # providers that want a tool list with a history of tool calls get a dummy one
    litellm.drop_params = True
    litellm.callbacks = []
    litellm.success_callback = []
    litellm.failure_callback = []
    litellm.custom_provider_map = [{"provider": name, "custom_handler": make()} for name, make in PROVIDERS.items()]
    litellm.utils.custom_llm_setup()
    return litellm


def classify(error: BaseException) -> ModelFailure:
    """The kind of a litellm error, by class and status code, never by its words."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return ModelFailure.TIMEOUT
    if isinstance(error, openai.APIResponseValidationError):
        return ModelFailure.INVALID
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        if status == 408:
            return ModelFailure.TIMEOUT
        if 400 <= status < 500:
            return ModelFailure.REJECTED
    return ModelFailure.TRANSPORT


def read_answer(response: Any, raw: RawReply) -> Answer:
    """What we need of litellm's response. Raises `InvalidReplyError` when it holds no message."""
    choices = getattr(response, "choices", None)
    if not choices:
        raise InvalidReplyError("the reply holds no choice")
    message = choices[0].message
    text = plain_text(message.content) if isinstance(message.content, str) else None
    without_id = raw.without_id() if message.tool_calls else set()
    calls = [
        WireToolCall(
            plain_text(call.id) if isinstance(call.id, str) and call.id and position not in without_id else None,
            plain_text(call.function.name) if isinstance(call.function.name, str) else "",
            plain_text(call.function.arguments) if isinstance(call.function.arguments, str) else "",
        )
        for position, call in enumerate(message.tool_calls or ())
    ]
    finish_reason = choices[0].finish_reason
    return Answer(
        message=_wire_message(text, calls),
        text=text,
        tool_calls=calls,
        finish_reason=finish_reason if finish_reason in _FINISH_REASONS else None,
        reasoning=_reasoning(message),
        usage=_usage(response),
        cost_usd=_cost(response),
    )


def _wire_message(text: str | None, calls: list[WireToolCall]) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.tool_call_id or "",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return message


def _usage(response: Any) -> tuple[int, int] | None:
    usage = getattr(response, "usage", None)
    prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if not isinstance(prompt, int) or not isinstance(completion, int) or prompt <= 0:
        return None
    return prompt, max(0, completion)


def _cost(response: Any) -> float:
    hidden = getattr(response, "_hidden_params", None)
    cost = hidden.get("response_cost") if isinstance(hidden, Mapping) else None
    return float(cost) if isinstance(cost, (int, float)) and cost > 0 else 0.0


def _reasoning(message: Any) -> Reasoning:
    """Source: 05-audit, "Reasoning"."""
    extra = getattr(message, "provider_specific_fields", None)
    for name in _REASONING_FIELDS:
        value = getattr(message, name, None)
        if value is None and isinstance(extra, Mapping):
            value = extra.get(name)
        content = plain_text("".join(_texts(value)))
        if content.strip():
            kept = content[:MAX_REASONING_CHARACTERS]
            return Reasoning(
                provider_field=name,
                content=kept,
                content_bytes=len(kept.encode(errors="replace")),
                truncated=len(kept) < len(content),
            )
    return Reasoning()


def _texts(value: object) -> Iterator[str]:
    """The texts of a string, of a block, or of a list of blocks."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(value.get("text") or value.get("thinking") or value.get("content"))
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
