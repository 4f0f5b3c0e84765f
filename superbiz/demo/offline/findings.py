"""What the tools returned, as findings: each one observation, said with the words and figures of its evidence."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.confirmation import needs_confirmation
from superbiz.demo.offline.conversation import Call, JsonObject
from superbiz.demo.offline.passages import SEVERE, belongs, best_sentence, quote, sentences, severity, shared, terms
from superbiz.demo.offline.question import Question, identifiers_in

SHOWN_ROWS = 8
SHOWN_PATTERNS = 2
SHOWN_DOCUMENTS = 2
_CELL = 80
_STEP = re.compile(r"重启|结束|终止|回滚|扩容|扩大|\brestart|\bkill|\bterminate|\broll.?back|\bscale", re.IGNORECASE)
_NO_STEP = re.compile(r"自动|tries to|automatically", re.IGNORECASE)
_PREVENT = re.compile(r"预防|告警|改进|长期|prevent|\balert|long.term|improve", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One analysis of the report, with what other parts of the report may take from it."""

    call: Call
    text: str
    simulated: bool = False
    quoted: str = ""
    """The exact slice of the evidence that the text quotes."""
    title: str = ""
    passage: JsonObject = field(default_factory=dict)
    """The excerpt that is quoted, when it is about a document."""
    advice: Literal["step", "prevention", ""] = ""
    """What the quoted sentence of a document is for, beside explaining."""
    service: str = ""
    severity: int = SEVERE + 1
    """Of the worst pattern that is shown."""
    window: str = ""

    @property
    def document_id(self) -> str:
        return str(self.passage.get("document_id", ""))

    @property
    def kind(self) -> str:
        return "NORMAL" if self.call.status == "EVIDENCE_FOUND" else "NEGATIVE_OBSERVATION"


def findings(question: Question, calls: Sequence[Call]) -> list[Finding]:
    """Documents last: what is happening comes before what is known about it."""
    say = question.chinese
    live: list[Finding] = []
    for call in calls:
        if call.name == "query_logs":
            live += _log_finding(call, say)
        elif call.name == "query_mysql":
            live += _row_finding(call, say)
    live = [each for each in live if each.kind != "NORMAL" or _is_about(each, question, live)]
    wanted = terms(question.text) | set().union(*(terms(each.quoted) for each in live if each.quoted))
    documents: dict[str, Finding] = {}
    for call in calls:
        if call.name == "lookup_knowledge":
            for each in _documents(call, wanted, say):
                if each.passage and not belongs(each.passage, question.text, [line.quoted for line in live]):
                    continue
                known = documents.setdefault(each.document_id, each)  # a second look-up may find the same document
                if shared(each.quoted, wanted) > shared(known.quoted, wanted):
                    documents[each.document_id] = each
    closest = sorted(documents.values(), key=lambda each: -shared(f"{each.title} {each.quoted}", wanted))
    closest = closest[:SHOWN_DOCUMENTS]
    return [*live, *closest, *_advice(calls, [each for each in closest if each.passage], say)]


def _is_about(finding: Finding, question: Question, live: Sequence[Finding]) -> bool:
    """Whether it belongs to the question. What merely happens at the same time would make a guess of the report."""
    if finding.call.name == "query_mysql":
        asked = str(finding.call.arguments.get("sql", "")).lower()
        return any(word in asked for word in question.words)
    if question.numbers:
        return _names(question.numbers, [finding])
    if question.identifiers:
        return _names(question.identifiers, live)
    return not question.bare


def _names(identifiers: Sequence[str], live: Sequence[Finding]) -> bool:
    """Whether what was found, not the query itself, names one of these as a whole."""
    found = [each.call.result.get(part) for each in live for part in ("patterns", "events", "rows")]
    shown = json.dumps(found, ensure_ascii=False).lower()
    return any(re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", shown) for name in identifiers)


def shared_names(findings_: Sequence[Finding]) -> list[str]:
    """Names that both shown log lines and a found passage hold, so that the one may be set beside the other."""
    passages = " ".join(str(each.passage.get("excerpt", "")) for each in findings_ if each.passage).lower()
    logs = [each.text for each in findings_ if each.quoted and not each.passage]
    names = [name for line in logs for name in [*identifiers_in(line), *re.findall(r"[A-Z][a-z]+[A-Z]\w+", line)]]
    both = [name for name in dict.fromkeys(names) if name.lower() in passages]
    return sorted(both, key=lambda name: name.islower())  # classes and error codes tell more than services


def window_of(call: Call) -> str:
    """`14:00–14:30 (UTC)`, as the scope of a log result has it; with the date when it spans days."""
    scope = call.result.get("scope") or {}
    start, end = str(scope.get("start_time", "")), str(scope.get("end_time", ""))
    if len(start) < 16 or len(end) < 16:
        return ""
    zone = re.search(r"(?:Z|[+-]\d{2}:?\d{2})$", end)
    named = "" if zone is None else " (UTC)" if zone[0] in ("Z", "+00:00") else f" (UTC{zone[0]})"
    if start[:10] == end[:10]:
        return f"{start[11:16]}–{end[11:16]}{named}"
    return f"{start[:10]} {start[11:16]} – {end[:10]} {end[11:16]}{named}"


def _log_finding(call: Call, chinese: bool) -> Iterator[Finding]:
    result = call.result
    scope = result.get("scope") or {}
    simulated = result.get("source_kind") == "MOCK"
    mark = ("（MOCK 模拟数据）" if chinese else " (MOCK, simulated)") if simulated else ""
    topic, query, window = str(scope.get("topic", "")), quote(str(scope.get("query", ""))), window_of(call)
    if call.status == "NO_EVIDENCE":
        text = (
            f"{topic} 日志{mark}在 {window} 内没有匹配 “{query}” 的事件。"
            if chinese
            else f"The {topic} logs{mark} hold no event that matches “{query}” within {window}."
        )
        yield Finding(call, text, simulated, window=window)
    if call.status != "EVIDENCE_FOUND":
        return
    patterns = sorted(result.get("patterns") or (), key=_weight)[:SHOWN_PATTERNS]
    count = result.get("match_count")
    text = (
        f"{topic} 日志{mark}在 {window} 内有 {count} 条事件匹配 “{query}”。"
        if chinese
        else f"The {topic} logs{mark} hold {count} events that match “{query}” within {window}."
    )
    for pattern in patterns:
        origin = ", ".join(str(pattern[key]) for key in ("level", "service") if pattern.get(key))
        line, times = quote(str(pattern.get("example", ""))), pattern.get("count")
        if chinese:
            text += f"其中{f'（{origin}）' if origin else ''}出现 {times} 次的一类：“{line}”。"
        else:
            text += f" Seen {times} times{f' ({origin})' if origin else ''}: “{line}”."
    first = patterns[0] if patterns else {}
    yield Finding(
        call,
        text,
        simulated,
        quoted=quote(str(first.get("example", ""))),
        service=str(first.get("service") or ""),
        severity=severity(first),
        window=window,
    )


def _weight(pattern: JsonObject) -> tuple[int, int]:
    """Severe patterns first, then frequent ones."""
    return severity(pattern), -int(pattern.get("count", 0))


def _row_finding(call: Call, chinese: bool) -> Iterator[Finding]:
    source = str(call.result.get("data_source", ""))
    if call.status == "NO_EVIDENCE":
        tables = ", ".join(str(each) for each in (call.result.get("scope") or {}).get("tables", ()))
        yield Finding(
            call,
            f"数据源 {source} 中没有符合条件的行（{tables}）。"
            if chinese
            else f"The data source {source} holds no row that meets the condition ({tables}).",
        )
    if call.status != "EVIDENCE_FOUND":
        return
    rows = call.result.get("rows") or []
    shown = [", ".join(f"{name}={_cell(value)}" for name, value in row.items()) for row in rows[:SHOWN_ROWS]]
    rest = len(rows) > SHOWN_ROWS or call.result.get("truncated")
    if chinese:
        text = f"数据源 {source} 返回的行：{'；'.join(shown)}{'；其余见引用' if rest else ''}。"
    else:
        text = (
            f"Rows of the data source {source}: {'; '.join(shown)}{'; the rest is in the reference' if rest else ''}."
        )
    yield Finding(call, text)


def _cell(value: object) -> str:
    return "NULL" if value is None else quote(str(value), _CELL)


def _documents(call: Call, wanted: set[str], chinese: bool) -> Iterator[Finding]:
    if call.status == "NO_EVIDENCE":
        yield Finding(
            call, "内部文档中没有找到相关内容。" if chinese else "The internal documents hold nothing about it."
        )
    if call.status != "EVIDENCE_FOUND":
        return
    best: dict[str, tuple[JsonObject, str]] = {}
    for passage in call.result.get("evidence") or ():
        document, sentence = str(passage.get("document_id")), best_sentence(passage, wanted)
        if sentence and (document not in best or shared(sentence, wanted) > shared(best[document][1], wanted)):
            best[document] = (passage, sentence)
    for passage, sentence in best.values():
        title = quote(str(passage.get("title", "")))
        text = f"内部文档《{title}》写道：“{sentence}”" if chinese else f"The document {title} says: “{sentence}”"
        yield Finding(call, text, quoted=sentence, title=title, passage=passage)


def _advice(calls: Sequence[Call], documents: Sequence[Finding], chinese: bool) -> Iterator[Finding]:
    """From the same documents: the first dangerous step, and the first sentence about prevention."""
    chosen = [each.document_id for each in documents]
    passages = [
        (call, passage)
        for call in calls
        if call.name == "lookup_knowledge" and call.status == "EVIDENCE_FOUND"
        for passage in call.result.get("evidence") or ()
    ]
    passages.sort(key=lambda found: chosen.index(each) if (each := str(found[1].get("document_id"))) in chosen else 99)
    wanted = {"step", "prevention"}
    for call, passage in passages:
        if str(passage.get("document_id")) not in chosen:
            return
        for sentence in sentences(passage):
            advice = _advice_of(sentence, str(passage.get("breadcrumb", "")))
            if advice in wanted:
                wanted.discard(advice)
                title = quote(str(passage.get("title", "")))
                text = f"内部文档《{title}》还写道：“{sentence}”" if chinese else f"{title} says too: “{sentence}”"
                yield Finding(call, text, quoted=sentence, title=title, passage=passage, advice=advice)


def _advice_of(sentence: str, breadcrumb: str) -> Literal["step", "prevention", ""]:
    if _STEP.search(sentence) and not _NO_STEP.search(sentence) and needs_confirmation(sentence):
        return "step"
    return "prevention" if _PREVENT.search(sentence) or _PREVENT.search(breadcrumb) else ""
