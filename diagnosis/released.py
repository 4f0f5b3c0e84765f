"""What an executor hands to the transport."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Released(BaseModel):
    """Content that may be published as it is. Source: 01-chat, `content_type`; 04-diagnosis, "Release"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Literal["SUCCESS", "FALLBACK"]
    content_type: Literal["SYSTEM_ANSWER", "KNOWLEDGE_ANSWER", "DIAGNOSIS_REPORT", "FALLBACK"]
    payload: dict[str, Any]
    fallback_type: str | None = None
    fallback_reason: str | None = None
    """A word for auditors, finer than `fallback_type`."""
    published_result: dict[str, Any] | None = None
    """The five PreviousTurn fields; only of a released diagnosis."""
