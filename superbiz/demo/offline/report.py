"""The report of the demo model: only what the tools returned, put in order. Source: 04-diagnosis, "Draft"."""

import re
from collections.abc import Iterable, Sequence

from harness.confirmation import needs_confirmation
from superbiz.demo.offline.conversation import Call, Conversation, JsonObject
from superbiz.demo.offline.findings import Finding, findings, shared_names, window_of
from superbiz.demo.offline.question import Question, read_question

MAX_TEXT = 2000
MAX_ITEMS = 20
_ITEM = re.compile(r"\$\.analysis\[(\d+)\]")


def question_of(conversation: Conversation) -> Question:
    """The question; one that names nothing of its own takes its subject from the previous turn."""
    data = conversation.data()
    question = read_question(str(data.get("query", "")))
    previous = data.get("previous_turn")
    if not (question.bare and isinstance(previous, dict)):
        return question
    before = read_question(f"{previous.get('user_query', '')} {previous.get('published_conclusion') or ''}")
    return Question(
        text=f"{question.text} {previous.get('user_query', '')}".strip(),
        chinese=question.chinese,
        identifiers=before.identifiers,
        subjects=before.subjects,
        symptoms=before.symptoms,
        minutes=question.minutes if question.named_window else before.minutes,
        named_window=question.named_window or before.named_window,
        counts=question.counts,
    )


def draft(question: Question, calls: Sequence[Call]) -> JsonObject:
    """The report over these calls."""
    found = findings(question, calls)[:MAX_ITEMS]
    ids = [f"a{number}" for number in range(1, len(found) + 1)]
    numbered = list(zip(ids, found, strict=True))
    return {
        "conclusion": _conclusion(question, numbered),
        "analysis": [
            {
                "analysis_id": analysis_id,
                "kind": each.kind,
                "text": each.text[:MAX_TEXT],
                "tool_call_ids": [each.call.tool_call_id],
            }
            for analysis_id, each in numbered
        ],
        "action_plan": _merged(_actions(question.chinese, numbered)),
        "recommendations": list(_recommendations(question.chinese, numbered)),
        "limitations": _limitations(question, calls, found),
    }


def mended(conversation: Conversation) -> JsonObject:
    """The last draft without what the evidence check refused; written anew where it is no draft at all."""
    before = conversation.last_draft()
    errors = [error for error in conversation.data(latest=True).get("errors", ()) if isinstance(error, dict)]
    if not before or any(error.get("code") == "SCHEMA_INVALID" for error in errors):
        return draft(question_of(conversation), conversation.calls())
    wrong = {int(match[1]) for error in errors if (match := _ITEM.match(str(error.get("path"))))}
    analysis = [each for place, each in enumerate(before["analysis"]) if place not in wrong]
    known = {each["analysis_id"] for each in analysis}
    conclusion = _grounded([before["conclusion"]] if before["conclusion"] else [], known)
    return {
        "conclusion": conclusion[0] if conclusion else None,
        "analysis": analysis,
        "action_plan": [
            {
                **each,
                "requires_human_confirmation": each["requires_human_confirmation"]
                or needs_confirmation(each["action"]),
            }
            for each in _grounded(before["action_plan"], known)
        ],
        "recommendations": _grounded(before["recommendations"], known),
        "limitations": before["limitations"],
    }


def _grounded(items: Iterable[JsonObject], known: set[str]) -> list[JsonObject]:
    """The items that still rest on an analysis."""
    kept = [
        {**item, "based_on_analysis_ids": [each for each in item["based_on_analysis_ids"] if each in known]}
        for item in items
    ]
    return [item for item in kept if item["based_on_analysis_ids"]]


def _conclusion(question: Question, numbered: Sequence[tuple[str, Finding]]) -> JsonObject | None:
    """None without live evidence: documents alone do not show what is happening."""
    live = [(each_id, each) for each_id, each in numbered if each.kind == "NORMAL" and not each.passage]
    if not live:
        return None
    based_on = [each_id for each_id, _ in live]
    logs = [each for _, each in live if each.window]
    chinese = question.chinese
    parts = []
    if question.counts and logs:
        result = logs[0].call.result
        query, topic = result["scope"]["query"], result["scope"]["topic"]
        parts.append(
            f"在所查的时间范围内，{topic} 日志共有 {result['match_count']} 条事件匹配 “{query}”。"
            if chinese
            else f"Within the window that was searched, {result['match_count']} events of {topic} match “{query}”."
        )
    elif logs:
        parts.append(_what_stands_out(logs, chinese))
    else:
        parts.append(
            "日志中没有发现相关事件，数据库中的现状见分析。"
            if chinese
            else "The logs show no such event; the analysis has the state of the database."
        )
    rows = [each.text for _, each in live if not each.window]
    if question.counts and rows:
        parts.append(rows[0])
    named = None if question.counts else _named_too(numbered)
    if named is not None:
        each_id, each, name = named
        based_on.append(each_id)
        parts.append(
            f"文档《{each.title}》也提到 {name}，可按其步骤核实。"
            if chinese
            else f"The document {each.title} names {name} too; follow its steps to verify."
        )
    if not question.counts:
        parts.append("仅凭这些证据不能确认根因。" if chinese else "This evidence alone does not confirm a cause.")
    if any(each.simulated for each in logs):
        parts.append(
            "日志为 MOCK 模拟数据，不代表生产事实。" if chinese else "The logs are MOCK data, no fact of production."
        )
    return {"text": ("" if chinese else " ").join(parts), "based_on_analysis_ids": based_on}


def _what_stands_out(logs: Sequence[Finding], chinese: bool) -> str:
    """The worst line of each topic."""
    lines: dict[str, str] = {}
    for each in sorted(logs, key=lambda each: each.severity):
        lines.setdefault(str(each.call.result["scope"]["topic"]), each.quoted)
    shown = [f"{topic} “{line}”" for topic, line in lines.items() if line]
    if chinese:
        return f"所查日志中最突出的现象：{'；'.join(shown)}。"
    return f"What stands out in the logs that were searched: {'; '.join(shown)}."


def _named_too(numbered: Sequence[tuple[str, Finding]]) -> tuple[str, Finding, str] | None:
    """A document that names what a quoted log line names, and that name."""
    names = shared_names([each for _, each in numbered])
    for each_id, each in numbered:
        for name in names:
            if each.passage and name.lower() in str(each.passage["excerpt"]).lower():
                return each_id, each, name
    return None


def _merged(actions: Iterable[JsonObject]) -> list[JsonObject]:
    """Each action once, on all that it rests on."""
    merged: dict[str, JsonObject] = {}
    for action in actions:
        known = merged.setdefault(action["action"], {**action, "based_on_analysis_ids": []})
        known["based_on_analysis_ids"] += action["based_on_analysis_ids"]
    return list(merged.values())[:MAX_ITEMS]


def _actions(chinese: bool, numbered: Sequence[tuple[str, Finding]]) -> Iterable[JsonObject]:
    """What to look at next, and the steps that the documents name; dangerous ones are for people to confirm."""
    for each_id, each in numbered:
        if each.kind != "NORMAL":
            continue
        if each.window and each.quoted:
            where = each.service or str(each.call.result["scope"]["topic"])
            yield _action(
                f"查看 {where} 在 {each.window} 内这类日志的上下文，核实最早出现的时间。"
                if chinese
                else f"Look at the context of these log lines of {where} within {each.window}, and at when they began.",
                each_id,
            )
        if each.advice == "step":
            yield _action(
                f"核实之后，由负责人决定是否按《{each.title}》操作：“{each.quoted}”"
                if chinese
                else f"Once verified, let the owner decide on this step of {each.title}: “{each.quoted}”",
                each_id,
                dangerous=True,
            )
        elif each.passage and not each.advice:
            yield _action(
                f"对照《{each.title}》逐项核对。" if chinese else f"Compare with the document {each.title}.", each_id
            )


def _action(text: str, analysis_id: str, *, dangerous: bool = False) -> JsonObject:
    return {
        "action": text[:MAX_TEXT],
        "based_on_analysis_ids": [analysis_id],
        "requires_human_confirmation": dangerous or needs_confirmation(text),
    }


def _recommendations(chinese: bool, numbered: Sequence[tuple[str, Finding]]) -> Iterable[JsonObject]:
    """What the documents say about prevention; else an alert on what the logs showed."""
    for each_id, each in numbered:
        if each.advice == "prevention":
            text = f"《{each.title}》建议：“{each.quoted}”" if chinese else f"{each.title} advises: “{each.quoted}”"
            yield {"text": text[:MAX_TEXT], "based_on_analysis_ids": [each_id]}
            return
    for each_id, each in numbered:
        if each.window and each.quoted:
            text = (
                "为这类日志的出现次数设置告警，以便更早发现。"
                if chinese
                else "Alert on how often these log lines occur, so that it is noticed earlier."
            )
            yield {"text": text, "based_on_analysis_ids": [each_id]}
            return


def _limitations(question: Question, calls: Sequence[Call], found: Sequence[Finding]) -> JsonObject:
    chinese = question.chinese
    looked = [_looked_at(call, chinese) for call in calls if call.status in ("EVIDENCE_FOUND", "NO_EVIDENCE")]
    sources = ("；" if chinese else "; ").join(dict.fromkeys(looked)) or ("无" if chinese else "none")
    scope = (
        f"本报告由离线演示模型按固定规则生成。实际查看的来源：{sources}。"
        if chinese
        else f"This report was made by the offline demo model from fixed rules. Sources looked at: {sources}."
    )
    missing = []
    if not any(each.kind == "NORMAL" for each in found):
        missing.append(
            "没有找到任何证据，因此不给出结论。" if chinese else "No evidence was found, so there is no conclusion."
        )
    elif not any(each.kind == "NORMAL" and not each.passage for each in found):
        missing.append(
            "日志和数据库中没有找到证据，因此不给出结论。"
            if chinese
            else "Neither logs nor databases held evidence, so there is no conclusion."
        )
    missing += [
        f"{call.name} 的一次查询没有结果（{call.error_code}）。"
        if chinese
        else f"One call of {call.name} gave no result ({call.error_code})."
        for call in calls
        if call.status not in ("EVIDENCE_FOUND", "NO_EVIDENCE")
    ]
    if any(each.simulated for each in found):
        missing.append(
            "日志来源是 MOCK 模拟数据，真实系统的日志未查看。"
            if chinese
            else "The log source is MOCK, simulated data; logs of a real system were not looked at."
        )
    missing.append(
        "演示模型只整理工具返回的内容，不做推理；配置真实模型后可得到完整分析。"
        if chinese
        else "The demo model only orders what the tools return and does not reason; configure a real model for more."
    )
    return {"scope": scope[:MAX_TEXT], "missing_info": list(dict.fromkeys(missing))[:MAX_ITEMS]}


def _looked_at(call: Call, chinese: bool) -> str:
    match call.name:
        case "query_logs":
            topic = str((call.result.get("scope") or {}).get("topic", ""))
            mark = "MOCK, " if call.result.get("source_kind") == "MOCK" else ""
            return f"{topic} 日志（{mark}{window_of(call)}）" if chinese else f"{topic} logs ({mark}{window_of(call)})"
        case "query_mysql":
            source = call.result.get("data_source")
            return f"数据源 {source}" if chinese else f"data source {source}"
        case _:
            return "内部文档" if chinese else "internal documents"
