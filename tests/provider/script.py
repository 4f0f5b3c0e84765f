"""A good run, as the played model tells it when a test says nothing else."""

import json
from typing import Any

from tests.provider.replies import JsonObject, Reply, Request, as_json, call, calls, text

PLAN = "PLAN:\n1. 查阅支付超时的排查手册\n2. 检查订单服务最近的错误日志\n3. 核对失败支付的订单状态"
KNOWLEDGE = call("call_knowledge", "lookup_knowledge", {"query": "支付超时 ERR_TIMEOUT"})
LOGS = call("call_logs", "query_logs", {"topic": "APPLICATION", "query": "order-service", "lookback_minutes": 30})
MYSQL = call(
    "call_mysql",
    "query_mysql",
    {
        "data_source": "order_readonly",
        "sql": "SELECT payment_status, COUNT(*) AS orders FROM biz_order GROUP BY payment_status",
        "params": [],
    },
)


def draft(
    analysis: list[JsonObject], conclusion: str | None = "支付超时与数据库连接池耗尽有关", **more: Any
) -> JsonObject:
    """A draft over these analyses; everything else hangs on the first."""
    first = [analysis[0]["analysis_id"]] if analysis else []
    return {
        "conclusion": None if conclusion is None else {"text": conclusion, "based_on_analysis_ids": first},
        "analysis": analysis,
        "action_plan": [{"action": "查看长事务", "based_on_analysis_ids": first, "requires_human_confirmation": False}],
        "recommendations": [{"text": "为连接等待设置告警", "based_on_analysis_ids": first}],
        "limitations": {"scope": "order-service，最近 30 分钟", "missing_info": ["尚未取得长事务数据"]},
        **more,
    }


def analysis(
    analysis_id: str, tool_call_id: str, words: str = "工具返回了相关证据", kind: str = "NORMAL"
) -> JsonObject:
    return {"analysis_id": analysis_id, "kind": kind, "text": words, "tool_call_ids": [tool_call_id]}


def draft_from_results(request: Request) -> Reply:
    """One analysis for each result that can be cited."""
    found = []
    for number, result in enumerate(request.tool_results(), 1):
        status = result["evidence_status"]
        if status != "ERROR":
            kind = "NORMAL" if status == "EVIDENCE_FOUND" else "NEGATIVE_OBSERVATION"
            found.append(analysis(f"a{number}", result["tool_call_id"], kind=kind))
    return as_json(draft(found) if found else {**draft([], None), "action_plan": [], "recommendations": []})


def diagnose(request: Request) -> Reply:
    """First all three tools, then the draft."""
    if any(message["role"] == "tool" for message in request.messages):
        return draft_from_results(request)
    return calls([KNOWLEDGE, LOGS, MYSQL], PLAN)


def answer_knowledge(request: Request) -> Reply:
    evidence = request.data()["evidence"]
    return as_json({"answer": "见文档。", "references": [evidence[0]["document_id"]], "limitations": []})


def by_default(request: Request) -> Reply:
    """The good run, by purpose."""
    match request.purpose:
        case "intent_router":
            return text("DIAGNOSIS")
        case "system_chat":
            return text("我可以帮助排查业务系统的故障。")
        case "knowledge_answer":
            return answer_knowledge(request)
        case "diagnosis":
            return diagnose(request)
        case "evidence_repair":
            return draft_from_results(request)
        case "semantic_guard":
            return as_json({"verdict": "SUPPORTED", "reason": "证据支持报告"})
        case _:
            return text(json.dumps({"purpose": request.purpose}))
