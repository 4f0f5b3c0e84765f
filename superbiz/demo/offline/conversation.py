"""The wire messages of a call, read: the data, the tools on offer, and the tool calls with their results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]


class UnreadableError(ValueError):
    """The messages are not those of our harness."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of this conversation and what came back."""

    tool_call_id: str
    name: str
    arguments: JsonObject
    result: JsonObject

    @property
    def status(self) -> str:
        return str(self.result.get("evidence_status"))

    @property
    def error_code(self) -> str:
        return str((self.result.get("error") or {}).get("code", "ERROR"))


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one request shows."""

    purpose: str
    messages: Sequence[JsonObject]
    tools: Mapping[str, JsonObject]
    """The functions on offer, by name; empty when none are."""

    def data(self, latest: bool = False) -> JsonObject:
        """The JSON object of the first (or latest) user message. Raises `UnreadableError`."""
        users = [message for message in self.messages if message.get("role") == "user"]
        try:
            data = json.loads(users[-1 if latest else 0]["content"])
        except (IndexError, KeyError, TypeError, ValueError):
            raise UnreadableError("the user message is no JSON object") from None
        if not isinstance(data, dict):
            raise UnreadableError("the user message is no JSON object")
        return data

    def query(self) -> str:
        return str(self.data().get("query", ""))

    def calls(self) -> list[Call]:
        """All tool calls that were answered, oldest first."""
        asked = {
            str(call.get("id")): call.get("function", {})
            for message in self.messages
            for call in message.get("tool_calls") or ()
        }
        calls = []
        for message in self.messages:
            if message.get("role") == "tool":
                tool_call_id = str(message.get("tool_call_id"))
                function = asked.get(tool_call_id, {})
                calls.append(
                    Call(
                        tool_call_id,
                        str(function.get("name", "")),
                        _object(function.get("arguments")),
                        _object(message.get("content")),
                    )
                )
        return calls

    def rounds(self) -> int:
        """How many replies asked for tools."""
        return sum(1 for message in self.messages if message.get("tool_calls"))

    def last_draft(self) -> JsonObject:
        """The latest assistant text as an object; empty if it is none."""
        texts = [message.get("content") for message in self.messages if message.get("role") == "assistant"]
        return _object(texts[-1]) if texts else {}


def _object(text: object) -> JsonObject:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}
