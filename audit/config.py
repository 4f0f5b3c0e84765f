"""The audit's part of the settings tree. Source: 05-audit, "Retention"."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Days = Annotated[int, Field(gt=0, le=36_500)]


class RetentionSettings(BaseModel):
    """How long audit rows live. Reasoning goes first, runs last."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    reasoning_days: Days = Field(30, description="Encrypted reasoning of models (days).")
    trace_days: Days = Field(180, description="Steps, tool calls and timeline events (days).")
    runs_days: Days = Field(365, description="Runs, their reports and feedback (days).")


class TelemetrySettings(BaseModel):
    """Where traces go."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    otlp_endpoint: str | None = Field(None, description="OTLP/HTTP endpoint for spans; none: no spans are made (URL).")
