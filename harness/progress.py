"""Progress that a run reports while it works: codes and safe facts, worded by the transport.

Source: 01-chat, "The stream". Nothing here holds arguments, SQL, log text, rows or provider words.
"""

from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field


class StatusCode(StrEnum):
    ROUTING = "ROUTING"
    ANSWERING = "ANSWERING"
    KNOWLEDGE_SEARCHING = "KNOWLEDGE_SEARCHING"
    DIAGNOSIS_STARTED = "DIAGNOSIS_STARTED"
    DIAGNOSIS_PLAN = "DIAGNOSIS_PLAN"
    TOOL_RUNNING = "TOOL_RUNNING"
    TOOL_FINISHED = "TOOL_FINISHED"
    DRAFTING = "DRAFTING"
    EVIDENCE_VALIDATING = "EVIDENCE_VALIDATING"
    EVIDENCE_REPAIRING = "EVIDENCE_REPAIRING"
    SEMANTIC_VALIDATING = "SEMANTIC_VALIDATING"
    RELEASING = "RELEASING"


class StatusUpdate(BaseModel):
    """One status; the fields beside `code` are set where they make sense."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: StatusCode
    plan: list[str] = Field(default_factory=list, description="DIAGNOSIS_PLAN: 3 to 5 steps; empty: the default plan")
    tool_name: str | None = Field(default=None, description="TOOL_*: one of the three names, or None if unknown")
    topic: str | None = Field(default=None, description="TOOL_*: log topic from the configuration")
    data_source: str | None = Field(default=None, description="TOOL_*: logical data source from the configuration")
    lookback_minutes: int | None = None
    evidence_status: str | None = Field(default=None, description="TOOL_FINISHED: EVIDENCE_FOUND, NO_EVIDENCE or ERROR")
    error_code: str | None = Field(default=None, description="TOOL_FINISHED with ERROR: a ToolErrorCode")
    count: int | None = Field(default=None, description="TOOL_FINISHED: log matches, rows or excerpts")
    duration_ms: int | None = Field(default=None, description="TOOL_FINISHED")


class Progress(Protocol):
    """Takes a status. Never blocks and never raises; a slow reader loses statuses."""

    def __call__(self, update: StatusUpdate, /) -> None: ...
