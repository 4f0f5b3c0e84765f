"""Settings of query_logs: topics, their sources, and what the agent sees of them."""

from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from harness.config import Count, Section

TopicName = Annotated[str, Field(pattern=r"[A-Z][A-Z0-9_]{0,39}")]


class TopicSettings(Section):
    """One log topic."""

    source: Literal["MOCK", "FILE"] = Field("MOCK", description="MOCK: the packaged scenario; FILE: real files.")
    paths: tuple[str, ...] = Field((), description="FILE: folders, files or globs, searched together (paths).")
    zone: str = Field("UTC", description="FILE: time zone of timestamps without one (IANA name).")

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"{zone!r} is not an IANA time zone such as Asia/Shanghai") from None
        return zone

    @model_validator(mode="after")
    def _paths_where_needed(self) -> Self:
        if (self.source == "FILE") != bool(self.paths):
            raise ValueError("a FILE topic needs paths, a MOCK topic takes none")
        return self


class LogToolsSettings(Section):
    """Log topics and their projection."""

    topics: Annotated[dict[TopicName, TopicSettings], Field(min_length=1, max_length=50)] = Field(
        default={name: TopicSettings() for name in ("APPLICATION", "GATEWAY", "DATABASE", "SYSTEM")},
        description="Topics that the agent can name, each with source, paths and zone (table).",
    )
    max_patterns: Count = Field(20, description="Patterns of one result (patterns).")
    max_events: Count = Field(30, description="Sampled events of one result (events).")
    max_message_characters: Count = Field(500, description="One message or example (characters).")
    max_characters: Annotated[int, Field(gt=0, le=200_000)] = Field(
        24_000, description="All messages and examples of one result (characters)."
    )
