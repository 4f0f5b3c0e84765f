"""Text that every store takes: PostgreSQL's JSON knows no NUL, and UTF-8 no lone surrogates."""

from typing import Any

_REPLACEMENT = "\ufffd"


def plain_text(text: str) -> str:
    """The text with NUL and lone surrogates replaced by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def plain_json(value: Any) -> Any:
    """The same for every text in a JSON value, names included."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, dict):
        return {plain_json(name): plain_json(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [plain_json(entry) for entry in value]
    return value
