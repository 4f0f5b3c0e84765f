"""Settings of query_logs: topics, their sources, and what the agent sees of them."""

import codecs
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from harness.config import Section

TopicName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,39}$")]


class TopicSettings(Section):
    """One log topic."""

    source: Literal["MOCK", "FILE"] = Field("MOCK", description="MOCK: the packaged scenario; FILE: real files.")
    paths: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), description="FILE: folders (with all below), files or globs, searched together (paths).", max_length=100
    )
    zone: str = Field("UTC", description="FILE: time zone of times without one (IANA name).")
    encoding: str = Field(
        "auto",
        description="FILE: encoding of all files, by Python's name; auto: UTF-8, UTF-16 by its mark, else GB18030.",
    )

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"{zone!r} is not an IANA time zone such as Asia/Shanghai") from None
        return zone

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, encoding: str) -> str:
        if encoding == "auto":
            return encoding
        try:
            return codecs.lookup(encoding).name
        except LookupError:
            raise ValueError(f"{encoding!r} is not an encoding such as gb18030, or auto") from None

    @model_validator(mode="after")
    def _paths_where_needed(self) -> Self:
        if (self.source == "FILE") != bool(self.paths):
            raise ValueError("a FILE topic needs paths, a MOCK topic takes none")
        return self


class LogToolsSettings(Section):
    """Log topics and their projection."""

    topics: Annotated[dict[TopicName, TopicSettings], Field(min_length=1, max_length=50)] = Field(
        default={name: TopicSettings() for name in ("APPLICATION", "GATEWAY", "DATABASE", "SYSTEM")},
        description="Topics that the agent can name, each with source, paths, zone and encoding (table).",
    )
    max_patterns: Annotated[int, Field(gt=0, le=40)] = Field(20, description="Patterns of one result (patterns).")
    max_events: Annotated[int, Field(gt=0, le=50)] = Field(30, description="Sampled events of one result (events).")
    max_message_characters: Annotated[int, Field(gt=0, le=1_200)] = Field(
        500, description="One message or example (characters)."
    )
    max_characters: Annotated[int, Field(gt=0, le=200_000)] = Field(
        24_000, description="All messages and examples of one result (characters)."
    )
    max_lookback_minutes: Annotated[int, Field(ge=1, le=1_440)] = Field(
        1_440, description="How far back a call may look (minutes)."
    )
