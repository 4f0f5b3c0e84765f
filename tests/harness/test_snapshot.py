import json
from typing import Any

from harness.snapshot import verified_snapshot, verified_sources
from tests.harness.drafts import analysis, draft, knowledge_call, log_call, mysql_call

CALLS = {"call_1": log_call(), "call_2": mysql_call(), "call_3": knowledge_call()}
LOG_SCOPE = "“timeout” · 2026-10-01T11:30:00+08:00 – 2026-10-01T12:00:00+08:00"
SQL_SCOPE = "biz_order · WHERE o.user_id = ? AND o.order_id > ? · GROUP BY payment_status"


def snapshot(cites: str, **calls: Any) -> list[dict[str, Any]]:
    made = verified_snapshot(draft(analysis=[analysis(cites=cites)]), CALLS | calls)
    dumped: list[dict[str, Any]] = made[0].model_dump(mode="json")["verified_evidence"]
    return dumped


def test_log_evidence_has_source_kind_scope_with_counts_patterns_and_events() -> None:
    result = CALLS["call_1"].agent_result or {}
    assert snapshot("call_1") == [
        {
            "source_type": "LOG",
            "source": "APPLICATION (MOCK)",
            "source_kind": "MOCK",
            "scope": f"{LOG_SCOPE} · match_count=84 · returned_count=1 · truncated=true",
            "patterns": result["patterns"],
            "events": result["events"],
        }
    ]


def test_mysql_evidence_has_tables_and_conditions_without_literals() -> None:
    assert snapshot("call_2") == [
        {
            "source_type": "MYSQL",
            "source": "order_readonly",
            "scope": f"{SQL_SCOPE} · returned_count=1 · truncated=false",
            "columns": ["payment_status", "orders"],
            "rows": [{"payment_status": "FAILED", "orders": 1234}],
        }
    ]


def test_knowledge_evidence_is_one_item_a_passage() -> None:
    assert snapshot("call_3") == [
        {
            "source_type": "KNOWLEDGE",
            "document_id": "payment-timeout-guide",
            "title": "支付超时排查手册",
            "breadcrumb": "支付超时排查手册 > 连接池",
            "excerpt": "active=50 means that the pool is exhausted",
        }
    ]


def test_nothing_found_keeps_what_was_asked() -> None:
    empty_logs = log_call(match_count=0, returned_count=0, patterns=[], events=[], truncated=False)
    assert snapshot("call_1", call_1=empty_logs)[0]["scope"].endswith(
        "match_count=0 · returned_count=0 · truncated=false"
    )
    scope = {"tables": ["biz_order"], "conditions": ["order_id = ?"]}
    no_rows = snapshot("call_2", call_2=mysql_call(rows=[], returned_count=0, scope=scope))[0]
    assert (no_rows["rows"], no_rows["scope"]) == ([], "biz_order · order_id = ? · returned_count=0 · truncated=false")
    nothing = knowledge_call(evidence=[], returned_count=0)
    assert snapshot("call_3", call_3=nothing) == [
        {"source_type": "KNOWLEDGE", "query": "支付超时", "returned_count": 0}
    ]


def test_evidence_is_grouped_by_analysis_and_holds_no_tool_call_id() -> None:
    made = draft(analysis=[analysis("a1", cites="call_1 call_2 call_1"), analysis("a2", cites="call_3")])
    dumped = [item.model_dump(mode="json") for item in verified_snapshot(made, CALLS)]
    assert [(each["analysis_id"], each["analysis_text"]) for each in dumped] == [("a1", "Seen."), ("a2", "Seen.")]
    assert [len(each["verified_evidence"]) for each in dumped] == [2, 1]
    assert "call_" not in json.dumps(dumped)


def test_sources_are_listed_once_in_order_of_first_use_without_content() -> None:
    made = draft(analysis=[analysis("a1", cites="call_2 call_1"), analysis("a2", cites="call_3 call_2")])
    assert [source.model_dump(mode="json") for source in verified_sources(made, CALLS)] == [
        {"source_type": "MYSQL", "source": "order_readonly", "scope": SQL_SCOPE},
        {"source_type": "LOG", "source": "APPLICATION (MOCK)", "scope": LOG_SCOPE},
        {"source_type": "KNOWLEDGE", "source": "KNOWLEDGE", "scope": "“支付超时” · 支付超时排查手册"},
    ]


def test_a_file_topic_carries_no_mark_and_equal_sources_are_one() -> None:
    calls = {"call_1": log_call(source_kind="FILE"), "call_2": log_call(source_kind="FILE")}
    made = draft(analysis=[analysis(cites="call_1 call_2")])
    assert [source.source for source in verified_sources(made, calls)] == ["APPLICATION"]
