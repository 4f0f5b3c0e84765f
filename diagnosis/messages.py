"""The first two messages of every call: our instructions, and one JSON object with the data."""

import json
from pathlib import Path
from typing import Any

from harness.prompts import load_prompt
from harness.tools.base import JsonObject

PROMPTS = Path(__file__).parent / "prompts"


def opening(prompt: str, data: dict[str, Any], folder: Path = PROMPTS) -> list[JsonObject]:
    """System prompt and user message. Source: 02-harness, "Model boundary"."""
    return [
        {"role": "system", "content": load_prompt(folder, prompt)},
        {"role": "user", "content": to_json(data)},
    ]


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
