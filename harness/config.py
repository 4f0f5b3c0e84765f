"""The harness's part of the settings tree: budgets, timeouts, limits. Source: 02-harness, "Budgets"."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Seconds = Annotated[float, Field(gt=0, le=86_400)]
Bytes = Annotated[int, Field(gt=0, le=1 << 30)]
Count = Annotated[int, Field(gt=0, le=10_000)]


class Section(BaseModel):
    """Base of every section: unknown names and bad values are refused, defaults are checked too."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class BudgetSettings(Section):
    """What one run may consume."""

    model_calls: Annotated[int, Field(ge=3, le=100)] = Field(
        12, description="Model calls of the agent loop, the repair included (calls)."
    )
    tool_calls: Count = Field(16, description="Tool calls of one run (calls).")
    tool_calls_per_tool: dict[str, Count] = Field(
        default={"lookup_knowledge": 4, "query_logs": 8, "query_mysql": 8},
        description="Tool calls of one run, for each tool (calls).",
    )
    total_tokens: Annotated[int, Field(gt=0, le=100_000_000)] = Field(
        200_000, description="Tokens of all model calls of one run, input and output (tokens)."
    )
    context_tokens: Annotated[int, Field(gt=0, le=10_000_000)] = Field(
        60_000, description="Tokens of one prompt (tokens)."
    )
    run_seconds: Seconds = Field(180, description="Time from accepting a question to its end (seconds).")
    report_reserve_seconds: Seconds = Field(
        60,
        description="With less time left the agent is called without tools, so that it writes its report (seconds).",
    )

    @model_validator(mode="after")
    def _sums(self) -> Self:
        if self.context_tokens > self.total_tokens:
            raise ValueError("context_tokens must not exceed total_tokens")
        if self.report_reserve_seconds >= self.run_seconds:
            raise ValueError("report_reserve_seconds must be below run_seconds")
        tools = {"lookup_knowledge", "query_logs", "query_mysql"}
        for name, calls in self.tool_calls_per_tool.items():
            if name not in tools:
                raise ValueError(f"tool_calls_per_tool names an unknown tool: {name}")
            if calls > self.tool_calls:
                raise ValueError(f"tool_calls_per_tool.{name} must not exceed tool_calls")
        return self


class TimeoutSettings(Section):
    """How long one operation may take."""

    router: Seconds = Field(10, description="One attempt of the intent router (seconds).")
    answer: Seconds = Field(60, description="The one model call of a chat or knowledge answer (seconds).")
    agent_call: Seconds = Field(90, description="One model call of the agent or the repair (seconds).")
    semantic_attempt: Seconds = Field(45, description="One attempt of the semantic review (seconds).")
    semantic_total: Seconds = Field(100, description="All attempts of the semantic review (seconds).")
    knowledge: Seconds = Field(10, description="One lookup_knowledge call (seconds).")
    logs: Seconds = Field(10, description="One query_logs call (seconds).")
    mysql: Seconds = Field(10, description="One query_mysql call (seconds).")

    @model_validator(mode="after")
    def _sums(self) -> Self:
        if self.semantic_attempt > self.semantic_total:
            raise ValueError("semantic_attempt must not exceed semantic_total")
        return self


class SemanticSettings(Section):
    """The isolated review of a whole report."""

    input_bytes: Bytes = Field(256 * 1024, description="Query, draft and evidence as JSON (bytes).")


class EvidenceSettings(Section):
    """The canonical record of tool calls in Redis."""

    ttl_seconds: Annotated[int, Field(gt=0, le=604_800)] = Field(
        7200, description="How long a record lives; no read or update extends it (seconds)."
    )
    max_record_bytes: Bytes = Field(1 << 20, description="Raw response of one call (bytes).")
    max_agent_result_bytes: Bytes = Field(64 * 1024, description="What the agent sees of one call (bytes).")
    max_run_bytes: Bytes = Field(5 << 20, description="All records of one run (bytes).")

    @model_validator(mode="after")
    def _sums(self) -> Self:
        if self.max_agent_result_bytes > self.max_record_bytes:
            raise ValueError("max_agent_result_bytes must not exceed max_record_bytes")
        if self.max_record_bytes > self.max_run_bytes:
            raise ValueError("max_record_bytes must not exceed max_run_bytes")
        return self


class EvidenceGuardSettings(Section):
    """The deterministic check of citations."""

    require_figures: bool = Field(
        default=False,
        description="Refuse a report with a figure that is not in its cited evidence (true or false).",
    )


class LimitSettings(Section):
    """How many runs at once."""

    runs_per_process: Count = Field(200, description="Running runs of one process (runs).")
    runs_per_user: Count = Field(3, description="Running runs of one user over all processes (runs).")
    drain_seconds: Seconds = Field(30, description="Time that running runs get to finish on shutdown (seconds).")


class HarnessSettings(Section):
    """All that bounds a run."""

    budget: BudgetSettings = BudgetSettings()
    timeouts: TimeoutSettings = TimeoutSettings()
    semantic: SemanticSettings = SemanticSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    evidence_guard: EvidenceGuardSettings = EvidenceGuardSettings()
    limits: LimitSettings = LimitSettings()

    @model_validator(mode="after")
    def _sums(self) -> Self:
        least = self.budget.run_seconds + self.timeouts.semantic_total + 300
        if self.evidence.ttl_seconds <= least:
            raise ValueError(
                f"evidence.ttl_seconds must exceed budget.run_seconds + timeouts.semantic_total + 300 = {least:g}"
            )
        return self


class ModelSettings(Section):
    """The one model that serves all purposes, by litellm."""

    name: str = Field(
        "demo/offline",
        description="litellm's name of the model, such as openai/gpt-4o or ollama/qwen3.",
        min_length=1,
    )
    api_base: str | None = Field(None, description="Address of an OpenAI-compatible server (URL).")
    api_key: str | None = Field(None, description="Key of the provider (secret).", repr=False)
