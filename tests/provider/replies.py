"""What the played model can answer, well or badly."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
MARKER = "PLANTED-PROVIDER-WORDS"
"""Stands in every error body; nobody outside the harness may ever see it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. By default a whole, immediate 200 with usage."""

    message: JsonObject = field(default_factory=dict)
    finish_reason: str = "stop"
    usage: JsonObject | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    )
    status: int = 200
    raw: bytes | None = None
    """Sent instead of a completion."""
    delay: float = 0
    """Seconds before anything is sent."""
    fault: str | None = None
    """`reset`: the connection is reset; `cut`: the body stops half way; `drip`: one byte every 50 ms."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came, for handlers and for assertions."""

    purpose: str
    run_id: str
    body: JsonObject
    headers: dict[str, str]

    @property
    def messages(self) -> list[JsonObject]:
        messages: list[JsonObject] = self.body["messages"]
        return messages

    def data(self) -> JsonObject:
        """The JSON object of the first user message."""
        content = next(message["content"] for message in self.messages if message["role"] == "user")
        data: JsonObject = json.loads(content)
        return data

    def tool_results(self) -> list[JsonObject]:
        """What the tools returned so far, oldest first."""
        return [json.loads(message["content"]) for message in self.messages if message["role"] == "tool"]


Answer: TypeAlias = Reply | Callable[[Request], Reply]


def text(content: str, **more: Any) -> Reply:
    """A plain answer; `more` are fields of the message such as `reasoning_content`."""
    return Reply({"role": "assistant", "content": content, **more})


def as_json(value: JsonObject, **more: Any) -> Reply:
    return text(json.dumps(value, ensure_ascii=False), **more)


def call(tool_call_id: str | None, name: str, arguments: JsonObject | str) -> JsonObject:
    """One tool call; `tool_call_id` None leaves the id out, `arguments` may be any text."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    made: JsonObject = {"type": "function", "function": {"name": name, "arguments": written}}
    return made if tool_call_id is None else {"id": tool_call_id, **made}


def calls(made: Sequence[JsonObject], content: str | None = None, **more: Any) -> Reply:
    return Reply({"role": "assistant", "content": content, "tool_calls": list(made), **more}, "tool_calls")


def error(status: int) -> Reply:
    body = {"error": {"message": f"{MARKER} {status}", "type": "test", "code": str(status)}}
    return Reply(status=status, raw=json.dumps(body).encode())


def hang(seconds: float = 600) -> Reply:
    """Answers only after `seconds`."""
    return Reply({"role": "assistant", "content": "late"}, delay=seconds)


RESET = Reply({"role": "assistant", "content": "never"}, fault="reset")
CUT = Reply({"role": "assistant", "content": "half of this never comes"}, fault="cut")
DRIP = Reply({"role": "assistant", "content": "slow"}, fault="drip")
EMPTY = Reply({"role": "assistant", "content": ""})
NOT_JSON = Reply(raw=f"<html>{MARKER}</html>".encode())


def cut_off(content: str) -> Reply:
    """A reply that the provider ended because it grew too long."""
    return Reply({"role": "assistant", "content": content}, "length")
