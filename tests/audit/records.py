"""Records as the harness makes them, for tests of the recorder."""

from datetime import UTC, datetime
from typing import Any

from harness.recorder import Purpose, Reasoning, StepOutcome, StepRecord, ToolCallStatus, ToolRecord
from harness.tools.summary import ToolSummary

AT = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


def step_record(index: int = 1, reasoning: Reasoning | None = None, **values: Any) -> StepRecord:
    fields: dict[str, Any] = {
        "step_index": index,
        "purpose": Purpose.DIAGNOSIS,
        "attempt": 1,
        "outcome": StepOutcome.OK,
        "message_count": 2,
        "message_roles": ["system", "user"],
        "has_text": True,
        "tool_names": ["query_logs"],
        "reasoning": reasoning or Reasoning(),
        "input_tokens": 100,
        "output_tokens": 20,
        "tokens_estimated": False,
        "cost_usd": 0.001,
        "finish_reason": "stop",
        "started_at": AT,
        "duration_ms": 1500,
    }
    return StepRecord(**(fields | values))


def tool_record(tool_call_id: str = "call_1", **values: Any) -> ToolRecord:
    fields: dict[str, Any] = {
        "tool_call_id": tool_call_id,
        "tool_name": "query_logs",
        "status": ToolCallStatus.READY,
        "evidence_status": "EVIDENCE_FOUND",
        "error_code": None,
        "summary": ToolSummary(topic="APPLICATION", lookback_minutes=30, match_count=42),
        "raw_bytes": 2000,
        "result_bytes": 400,
        "started_at": AT,
        "duration_ms": 40,
    }
    return ToolRecord(**(fields | values))
