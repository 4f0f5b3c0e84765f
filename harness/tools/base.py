"""What the tool boundary needs to know of a tool."""

from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from harness.context import RunContext
from harness.tools.summary import ToolSummary

JsonObject: TypeAlias = dict[str, Any]  # values are what `json.dumps` takes; shape belongs to the tool


class EvidenceStatus(StrEnum):
    """What a call's result means. Source: 03-tools, "The canonical record"."""

    EVIDENCE_FOUND = "EVIDENCE_FOUND"
    NO_EVIDENCE = "NO_EVIDENCE"
    ERROR = "ERROR"


class StrictModel(BaseModel):
    """Base of everything that comes from a model: no extra fields, no coercion, immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)


class Tool(Protocol[ArgumentsT]):
    """One read-only tool. The boundary calls `run`, stores what it returns, then calls `project`.

    `run` raises `ToolCallError` for every failure that it expects, and cleans up after itself when it is
    cancelled (the boundary cancels it at `timeout_seconds` and when the run stops). `project` is
    deterministic, calls no model and keeps within the tool's projection limits; whatever it raises
    becomes PROJECTION_FAILED.
    """

    name: ClassVar[str]
    description: str
    """For the agent: what it does, when to call it, what it is not for."""
    arguments: type[ArgumentsT]
    """Strict schema; enums come from the configuration."""
    timeout_seconds: float

    async def run(self, ctx: RunContext, arguments: ArgumentsT) -> JsonObject:
        """The raw response, as stored in the canonical record."""
        ...

    def project(self, raw: JsonObject, arguments: ArgumentsT, tool_call_id: str) -> JsonObject:
        """The `agent_result`: bounded, redacted, with `evidence_status` and `tool_call_id` as its first keys."""
        ...

    def summarize(self, arguments: ArgumentsT, agent_result: JsonObject | None) -> ToolSummary:
        """Metadata for audit; `agent_result` is None when the call failed."""
        ...

    def normalise(self, arguments: ArgumentsT) -> str:
        """Equal for two calls that ask the same; the boundary refuses the second as REPEATED_QUERY."""
        ...
