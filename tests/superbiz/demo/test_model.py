"""The demo model behind litellm: what it asks, reports and refuses, checked by the product's own guards."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from harness.evidence_guard import check_evidence
from harness.provider import load_litellm
from harness.recorder import ToolCallStatus
from harness.report import parse_draft
from harness.snapshot import verified_snapshot
from harness.tools.base import EvidenceStatus, JsonObject

TOPICS = ["APPLICATION", "GATEWAY", "DATABASE", "SYSTEM"]
QUESTION_ZH = "订单支付超时，帮我排查"
QUESTION_EN = "Orders time out when paying, please investigate"
EXCERPT = (
    "1. 应用日志：搜索 order-service 的 `HikariPool` 与 `Connection is not available`。\n"
    "2. 数据库日志：查找长事务与锁等待。\n"
    "结束数据库会话、重启实例都会影响线上，必须由值班负责人确认后执行。\n"
    "为连接等待时间设置告警。"
)
PASSAGE = {
    "document_id": "payment-timeout-guide",
    "source": "payment-timeout-guide.md",
    "title": "支付超时排查手册",
    "breadcrumb": "首先检查的内容",
    "excerpt": EXCERPT,
}
PATTERN = {
    "count": 37,
    "first_seen": "2026-07-01T14:02:11+00:00",
    "last_seen": "2026-07-01T14:58:40+00:00",
    "level": "ERROR",
    "service": "order-service",
    "example": "HikariPool-1 - Connection is not available, request timed out after 30000ms\n\tat com.zaxxer.hikari",
}


def tool(name: str, description: str, **properties: JsonObject) -> JsonObject:
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    tool("lookup_knowledge", "documents", query={"type": "string"}),
    tool("query_logs", "logs", topic={"type": "string", "enum": TOPICS}, query={"type": "string"}),
    tool(
        "query_mysql",
        "What may be read:\n- order_readonly: biz_order(order_id, user_id, payment_status, created_at)\n"
        "- order_readonly: payment_record(payment_id, order_id, channel, status, created_at)",
        data_source={"const": "order_readonly"},
        sql={"type": "string"},
    ),
]


@dataclass(frozen=True)
class Record:
    """A canonical record, as far as the guards read it."""

    tool_name: str
    request: JsonObject
    agent_result: JsonObject
    evidence_status: EvidenceStatus
    status: ToolCallStatus = ToolCallStatus.READY
    started_at: datetime = datetime(2026, 7, 1, 15, tzinfo=UTC)


def result_of(call: JsonObject, *, found: bool = True, mock: bool = True) -> JsonObject:
    """What the tool would return, in the shapes of 03-tools."""
    asked = json.loads(call["function"]["arguments"])
    head = {"evidence_status": "EVIDENCE_FOUND" if found else "NO_EVIDENCE", "tool_call_id": call["id"]}
    found_in = re.findall(r"FROM (\w+)", asked.get("sql", ""))
    match call["function"]["name"]:
        case "lookup_knowledge":
            passages = [PASSAGE] if found else []
            return {**head, "query": asked["query"], "evidence": passages, "returned_count": len(passages)}
        case "query_logs":
            scope = {"topic": asked["topic"], "query": asked["query"]}
            scope |= {"start_time": "2026-07-01T14:00:00+00:00", "end_time": "2026-07-01T15:00:00+00:00"}
            matches = {"match_count": 84 if found else 0, "returned_count": 0, "patterns": [PATTERN] if found else []}
            return {**head, "source_kind": "MOCK" if mock else "FILE", "scope": scope, **matches, "events": []}
        case _:
            rows = [{"payment_status": "FAILED", "total": 512}, {"payment_status": "PAID", "total": 1733}]
            result = {**head, "data_source": asked["data_source"], "columns": ["payment_status", "total"]}
            shown = {"rows": rows if found else [], "returned_count": 2 if found else 0, "truncated": False}
            return {**result, **shown} | ({} if found else {"scope": {"tables": found_in, "conditions": []}})


async def ask(purpose: str, messages: list[JsonObject], tools: list[JsonObject] | None = None) -> Any:
    headers = {"X-SuperBiz-Purpose": purpose, "X-SuperBiz-Run-Id": "run"}
    more = {} if tools is None else {"tools": tools}
    response = await load_litellm().acompletion(
        model="demo/offline", messages=messages, extra_headers=headers, num_retries=0, max_retries=0, **more
    )
    assert response.usage.total_tokens > 0
    return response.choices[0]


async def ask_about(purpose: str, data: JsonObject) -> str:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": json.dumps(data, ensure_ascii=False)}]
    content: str = (await ask(purpose, messages)).message.content
    return content


class Investigation:
    """The loop of the agent, with canned results."""

    def __init__(self, query: str, previous_turn: JsonObject | None = None) -> None:
        data = {"query": query, "previous_turn": previous_turn}
        self.query = query
        self.messages: list[JsonObject] = [
            {"role": "system", "content": "s"},
            {"role": "user", "content": json.dumps(data)},
        ]
        self.calls: list[JsonObject] = []
        self.results: dict[str, JsonObject] = {}
        self.plan: str | None = None

    async def run(self, tools: list[JsonObject] = TOOLS, **how: Any) -> str:
        for _ in range(6):
            choice = await ask("diagnosis", self.messages, tools)
            if choice.finish_reason != "tool_calls":
                draft: str = choice.message.content
                self.messages.append({"role": "assistant", "content": draft})
                return draft
            made = [call.model_dump() for call in choice.message.tool_calls]
            self.plan = self.plan or choice.message.content
            self.messages.append({"role": "assistant", "content": None, "tool_calls": made})
            for call in made:
                self.calls.append(call)
                result = self.answer(call, **how)
                self.results[call["id"]] = result
                self.messages.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result, ensure_ascii=False)}
                )
        raise AssertionError("it never reports")

    def answer(self, call: JsonObject, **how: Any) -> JsonObject:
        return result_of(call, **how)

    def records(self) -> dict[str, Record]:
        return {
            call["id"]: Record(
                call["function"]["name"],
                json.loads(call["function"]["arguments"]),
                self.results[call["id"]],
                EvidenceStatus(self.results[call["id"]]["evidence_status"]),
            )
            for call in self.calls
        }

    async def reviewed(self, text: str) -> str:
        """The demo model's own verdict, through the snapshot that the product makes."""
        draft = parse_draft(text)
        shown = draft.model_dump(mode="json")
        for analysis in shown["analysis"]:
            del analysis["tool_call_ids"]
        evidence = [each.model_dump(mode="json") for each in verified_snapshot(draft, self.records())]
        verdict: str = json.loads(
            await ask_about("semantic_guard", {"query": self.query, "draft": shown, "evidence": evidence})
        )["verdict"]
        return verdict


@pytest.mark.parametrize(
    ("query", "last_intent", "word"),
    [
        (QUESTION_ZH, None, "DIAGNOSIS"),
        (QUESTION_EN, None, "DIAGNOSIS"),
        ("How many failed SSH logins were there today?", None, "DIAGNOSIS"),
        ("最近 SSH 登录失败了多少次？", None, "DIAGNOSIS"),
        ("ERR_TIMEOUT 是什么意思？", None, "KNOWLEDGE_QUERY"),
        ("What does ERR_TIMEOUT mean?", None, "KNOWLEDGE_QUERY"),
        ("how do I fix KubePodCrashLooping", "DIAGNOSIS", "KNOWLEDGE_QUERY"),
        ("继续", "DIAGNOSIS", "DIAGNOSIS"),
        ("and in the last 2 hours?", "DIAGNOSIS", "DIAGNOSIS"),
        ("你好", "DIAGNOSIS", "SYSTEM_CHAT"),
        ("What can you do?", None, "SYSTEM_CHAT"),
    ],
)
async def test_it_routes_by_what_the_message_says(query: str, last_intent: str | None, word: str) -> None:
    data = {"query": query, "last_intent": last_intent, "last_user_query": None}
    assert await ask_about("intent_router", data) == word


async def test_small_talk_says_that_the_demo_model_answers() -> None:
    assert "演示模型" in await ask_about("system_chat", {"query": "你是谁"})
    assert "demo model" in await ask_about("system_chat", {"query": "who are you"})


async def test_an_answer_from_documents_quotes_them_and_names_them() -> None:
    answer = json.loads(await ask_about("knowledge_answer", {"query": "长事务怎么查", "evidence": [PASSAGE]}))
    assert answer["references"] == ["payment-timeout-guide"]
    assert "数据库日志：查找长事务与锁等待。" in answer["answer"]
    assert "演示模型" in answer["limitations"][0]


async def test_the_first_reply_has_a_plan_and_asks_all_three_tools() -> None:
    run = Investigation(QUESTION_ZH)
    await run.run()
    assert run.plan is not None
    assert run.plan.startswith("PLAN:\n1. ")
    assert {call["function"]["name"] for call in run.calls} == {"lookup_knowledge", "query_logs", "query_mysql"}
    ids = [call["id"] for call in run.calls]
    assert len(set(ids)) == len(ids)
    statements = [json.loads(call["function"]["arguments"]).get("sql", "") for call in run.calls]
    assert any("FROM biz_order" in sql and "GROUP BY payment_status" in sql for sql in statements)


async def test_the_same_conversation_gets_the_same_report() -> None:
    assert await Investigation(QUESTION_ZH).run() == await Investigation(QUESTION_ZH).run()


@pytest.mark.parametrize("mock", [True, False])
@pytest.mark.parametrize("query", [QUESTION_ZH, QUESTION_EN, "How many timeouts were there in order-service?"])
async def test_every_figure_of_its_report_is_in_the_evidence(query: str, mock: bool) -> None:
    run = Investigation(query)
    text = await run.run(mock=mock)
    check = check_evidence(parse_draft(text), run.records(), require_figures=True)
    assert check.errors == []
    assert check.figures.total > 3
    assert await run.reviewed(text) == "SUPPORTED"


async def test_the_report_speaks_the_language_of_the_question_and_names_its_maker() -> None:
    chinese, english = [json.loads(await Investigation(query).run()) for query in (QUESTION_ZH, QUESTION_EN)]
    assert "演示模型" in chinese["limitations"]["scope"]
    assert "demo model" in english["limitations"]["scope"]
    assert "84 条事件" in chinese["analysis"][0]["text"]
    assert "84 events" in english["analysis"][0]["text"]


async def test_simulated_logs_are_labelled_and_real_ones_are_not() -> None:
    simulated, real = [await Investigation(QUESTION_ZH).run(mock=mock) for mock in (True, False)]
    assert "MOCK" in json.loads(simulated)["analysis"][0]["text"]
    assert "MOCK" in json.loads(simulated)["limitations"]["scope"]
    assert "MOCK" not in real


async def test_each_action_stands_once_on_all_that_it_rests_on() -> None:
    actions = json.loads(await Investigation(QUESTION_ZH).run())["action_plan"]
    assert len({action["action"] for action in actions}) == len(actions)
    assert len(actions[0]["based_on_analysis_ids"]) > 1


async def test_a_dangerous_step_of_a_document_asks_for_confirmation() -> None:
    actions = json.loads(await Investigation(QUESTION_ZH).run())["action_plan"]
    assert [action["requires_human_confirmation"] for action in actions if "重启实例" in action["action"]] == [True]


async def test_without_evidence_there_is_no_conclusion_and_every_analysis_is_negative() -> None:
    run = Investigation(QUESTION_ZH)
    text = await run.run(found=False)
    draft = parse_draft(text)
    assert draft.conclusion is None
    assert {analysis.kind for analysis in draft.analysis} == {"NEGATIVE_OBSERVATION"}
    assert draft.action_plan == []
    assert "没有找到任何证据，因此不给出结论。" in draft.limitations.missing_info
    assert check_evidence(draft, run.records(), require_figures=False).errors == []
    assert await run.reviewed(text) == "SUPPORTED"


async def test_failed_calls_are_limitations_and_no_evidence() -> None:
    class Broken(Investigation):
        def answer(self, call: JsonObject, **how: Any) -> JsonObject:
            error = {"code": "TIMEOUT", "message": "too slow"}
            return {"evidence_status": "ERROR", "tool_call_id": call["id"], "error": error}

    draft = parse_draft(await Broken(QUESTION_EN).run())
    assert draft.analysis == []
    assert draft.conclusion is None
    assert "One call of query_mysql gave no result (TIMEOUT)." in draft.limitations.missing_info


async def test_when_no_tools_are_offered_it_reports() -> None:
    assert parse_draft(await Investigation(QUESTION_ZH).run(tools=[])).analysis == []


async def test_a_follow_up_takes_its_subject_from_the_previous_turn() -> None:
    previous = {
        "user_query": QUESTION_ZH,
        "published_conclusion": "order-service 的连接池耗尽",
        "scope": "x",
        "limitations": [],
        "source_documents": [],
    }
    run = Investigation("最近 2 小时呢？", previous)
    await run.run()
    asked = [
        json.loads(call["function"]["arguments"]) for call in run.calls if call["function"]["name"] == "query_logs"
    ]
    assert asked[0]["query"] == "order-service"
    assert asked[0]["lookback_minutes"] == 120


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("How many failed SSH logins were there today?", '"Failed password"'),
        ("今天 SSH 登录失败了多少次？", '"Failed password"'),
        ("HDFS block errors today: how many?", "exception OR error"),
    ],
)
async def test_questions_about_other_logs_ask_the_topic_that_they_name(query: str, phrase: str) -> None:
    offered = [tool("query_logs", "logs", topic={"enum": ["APPLICATION", "HDFS", "SSH"]}, query={"type": "string"})]
    run = Investigation(query)
    report = json.loads(await run.run(tools=offered, mock=False))
    asked = json.loads(run.calls[0]["function"]["arguments"])
    assert asked["topic"] == ("HDFS" if "HDFS" in query else "SSH")
    assert asked["query"] == phrase
    assert asked["lookback_minutes"] == 1440
    assert "84" in report["conclusion"]["text"]


async def test_a_number_that_the_question_names_is_looked_up_by_its_key() -> None:
    run = Investigation("order-123456 为什么没有支付成功？")
    await run.run()
    asked = [
        json.loads(call["function"]["arguments"]) for call in run.calls if call["function"]["name"] == "query_mysql"
    ]
    assert asked[0]["sql"].endswith("FROM biz_order WHERE order_id = ? LIMIT 10")
    assert asked[0]["params"] == ["order-123456"]


async def test_what_does_not_belong_to_the_question_is_left_out() -> None:
    run = Investigation("zebra-printer-service 卡住了，帮我排查")
    draft = parse_draft(await run.run())
    assert draft.conclusion is None
    assert draft.analysis == []


async def test_a_document_that_is_merely_the_nearest_is_left_out() -> None:
    class Nearest(Investigation):
        def answer(self, call: JsonObject, **how: Any) -> JsonObject:
            result = super().answer(call, **how)
            if "evidence" in result:
                result["evidence"] = [{**PASSAGE, "title": "Error budget", "excerpt": "Look within the next 24 hours."}]
            return result

    run = Nearest("How many failed SSH logins were there today?")
    draft = parse_draft(await run.run())
    assert draft.analysis
    assert all("evidence" not in run.results[analysis.tool_call_ids[0]] for analysis in draft.analysis)


async def test_a_repair_drops_what_was_refused_and_all_that_rested_on_it() -> None:
    run = Investigation(QUESTION_ZH)
    await run.run()
    errors = [{"path": "$.analysis[0].tool_call_ids[0]", "code": "UNKNOWN_TOOL_CALL", "message": "m"}]
    run.messages.append({"role": "user", "content": json.dumps({"errors": errors})})
    before = parse_draft(run.messages[-2]["content"])
    after = parse_draft((await ask("evidence_repair", run.messages)).message.content)
    assert [each.analysis_id for each in after.analysis] == [each.analysis_id for each in before.analysis[1:]]
    assert check_evidence(after, run.records(), require_figures=True).errors == []


async def test_a_repair_of_an_unreadable_draft_writes_it_anew() -> None:
    run = Investigation(QUESTION_ZH)
    good = await run.run()
    run.messages[-1] = {"role": "assistant", "content": "not JSON"}
    errors = [{"path": "$", "code": "SCHEMA_INVALID", "message": "m"}]
    run.messages.append({"role": "user", "content": json.dumps({"errors": errors})})
    assert (await ask("evidence_repair", run.messages)).message.content == good


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("analysis", "84 条 -> 85 条"),
        ("analysis", "order-service -> stock-service"),
        ("conclusion", "仅凭 -> 917 次，仅凭"),
    ],
)
async def test_the_review_refuses_a_figure_that_the_evidence_does_not_hold(where: str, words: str) -> None:
    run = Investigation(QUESTION_ZH)
    draft = json.loads(await run.run())
    old, new = words.split(" -> ")
    part = draft["conclusion"] if where == "conclusion" else draft["analysis"][0]
    assert old in part["text"]
    part["text"] = part["text"].replace(old, new)
    assert await run.reviewed(json.dumps(draft)) == "UNSUPPORTED"


async def test_the_review_refuses_a_dangerous_action_without_confirmation() -> None:
    run = Investigation(QUESTION_ZH)
    draft = json.loads(await run.run())
    draft["action_plan"].append(
        {"action": "重启 order-service", "based_on_analysis_ids": ["a1"], "requires_human_confirmation": False}
    )
    assert await run.reviewed(json.dumps(draft)) == "UNSUPPORTED"


async def test_the_review_refuses_simulated_data_that_is_not_called_so() -> None:
    run = Investigation(QUESTION_ZH)
    text = (await run.run()).replace("MOCK", "").replace("模拟", "")
    assert await run.reviewed(text) == "UNSUPPORTED"


async def test_messages_that_are_not_ours_get_a_plain_answer() -> None:
    assert "demo model" in (await ask("", [{"role": "user", "content": "hi"}])).message.content
