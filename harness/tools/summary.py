"""What durable audit keeps of a tool call."""

from pydantic import BaseModel, ConfigDict, Field


class ToolSummary(BaseModel):
    """Names and counts of a call, at most 2 KiB as JSON. Source: 05-audit, `tool_invocation`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    topic: str | None = None
    lookback_minutes: int | None = None
    data_source: str | None = None
    tables: list[str] = Field(default_factory=list)
    columns: list[str] = Field(default_factory=list)
    fingerprint: str | None = Field(
        default=None, description="SHA-256 of the statement without literals, 16 hex digits"
    )
    parameter_count: int | None = None
    match_count: int | None = None
    returned_count: int | None = None
    truncated: bool | None = None
    document_ids: list[str] = Field(default_factory=list)
