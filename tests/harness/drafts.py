"""Drafts and calls that the tests of report, guard, snapshot and release share."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from harness.recorder import ToolCallStatus
from harness.report import DiagnosisDraft
from harness.tools.base import EvidenceStatus

STARTED = datetime(2026, 10, 1, 4, 0, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Call:
    """A canonical record as far as the guard reads it."""

    tool_name: str = "query_logs"
    request: dict[str, Any] = field(default_factory=dict)
    status: ToolCallStatus = ToolCallStatus.READY
    evidence_status: EvidenceStatus | None = EvidenceStatus.EVIDENCE_FOUND
    agent_result: dict[str, Any] | None = field(default_factory=dict)
    started_at: datetime = STARTED


def draft_json(**changes: Any) -> dict[str, Any]:
    """A whole draft that cites `call_1`; `changes` replace top-level fields."""
    return {
        "conclusion": {"text": "Pool exhausted.", "based_on_analysis_ids": ["a1"]},
        "analysis": [{"analysis_id": "a1", "kind": "NORMAL", "text": "Waiters pile up.", "tool_call_ids": ["call_1"]}],
        "action_plan": [{"action": "Restart it", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": True}],
        "recommendations": [{"text": "Alert on waiters.", "based_on_analysis_ids": ["a1"]}],
        "limitations": {"scope": "order-service, 30 minutes", "missing_info": ["slow queries"]},
    } | changes


def draft(**changes: Any) -> DiagnosisDraft:
    return DiagnosisDraft.model_validate(draft_json(**changes))


def analysis(
    analysis_id: str = "a1", kind: str = "NORMAL", text: str = "Seen.", cites: str = "call_1"
) -> dict[str, Any]:
    """`cites`: tool call ids, separated by blanks."""
    return {"analysis_id": analysis_id, "kind": kind, "text": text, "tool_call_ids": cites.split()}


def log_call(**changes: Any) -> Call:
    result = {
        "evidence_status": "EVIDENCE_FOUND",
        "tool_call_id": "call_1",
        "source_kind": "MOCK",
        "scope": {
            "topic": "APPLICATION",
            "query": "timeout",
            "start_time": "2026-10-01T11:30:00+08:00",
            "end_time": "2026-10-01T12:00:00+08:00",
        },
        "match_count": 84,
        "returned_count": 1,
        "patterns": [{"count": 84, "example": "HikariPool-1 request timed out after 30000ms"}],
        "events": [{"timestamp": "2026-10-01T11:31:02+08:00", "message": "order SO202610010002 ERR_TIMEOUT"}],
        "truncated": True,
    }
    return Call(tool_name="query_logs", request={"topic": "APPLICATION"}, agent_result=result | changes)


def mysql_call(**changes: Any) -> Call:
    result = {
        "evidence_status": "EVIDENCE_FOUND",
        "tool_call_id": "call_2",
        "data_source": "order_readonly",
        "columns": ["payment_status", "orders"],
        "rows": [{"payment_status": "FAILED", "orders": 1234}],
        "returned_count": 1,
        "truncated": False,
    }
    sql = (
        "SELECT payment_status, COUNT(*) AS orders FROM biz_order AS o "
        "WHERE o.user_id = 'u-77' AND o.order_id > 5 GROUP BY payment_status"
    )
    request = {"data_source": "order_readonly", "sql": sql, "params": []}
    return Call(tool_name="query_mysql", request=request, agent_result=result | changes)


def knowledge_call(**changes: Any) -> Call:
    passage = {
        "document_id": "payment-timeout-guide",
        "source": "runbooks/payment-timeout-guide.md",
        "title": "支付超时排查手册",
        "breadcrumb": "支付超时排查手册 > 连接池",
        "excerpt": "active=50 means that the pool is exhausted",
    }
    result = {
        "evidence_status": "EVIDENCE_FOUND",
        "tool_call_id": "call_3",
        "query": "支付超时",
        "evidence": [passage],
        "returned_count": 1,
        "truncated": False,
    }
    return Call(tool_name="lookup_knowledge", request={"query": "支付超时"}, agent_result=result | changes)
