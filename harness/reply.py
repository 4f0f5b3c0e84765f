"""Replies that must be one JSON object, alone or in one Markdown code fence. Source: 02-harness."""

import re

from harness.plain_text import plain_json
from harness.provider import Answer
from harness.strict_json import loads_object
from harness.tools.base import JsonObject

_FENCE = re.compile(r"\s*```(?:json|JSON)?[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)


def json_reply(answer: Answer) -> JsonObject:
    """The object, fit for every store. Raises `InvalidReplyError` (empty, cut off) or `StrictJsonError`."""
    value: JsonObject = plain_json(json_text(answer.whole_text()))
    return value


def json_text(text: str) -> JsonObject:
    """The object that `text` is, without its fence if it has one. Raises `StrictJsonError`."""
    fenced = _FENCE.fullmatch(text)
    return loads_object(fenced[1] if fenced else text)
