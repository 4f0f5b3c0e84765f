"""Shows the small JSON objects of the audit as text."""

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def pairs(details: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values that say something, each value as one line of text."""
    return [(name, _text(value)) for name, value in details.items() if value not in (None, [], {})]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
