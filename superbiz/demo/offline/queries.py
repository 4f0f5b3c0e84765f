"""Which tools to ask, and what: derived from the question, the tools' schemas and what came back before."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from superbiz.demo.offline.conversation import Call, JsonObject
from superbiz.demo.offline.passages import SEVERE, quote, severity
from superbiz.demo.offline.question import MAX_MINUTES, Question

MAX_LOG_QUERY = 300
MAX_KNOWLEDGE_QUERY = 500
ROUNDS = 2
"""Replies that ask for tools; then comes the report."""

_TOPIC_HINTS: Mapping[str, str] = {
    "GATEWAY": r"网关|gateway|nginx|\b50[24]\b|http",
    "DATABASE": r"数据库|慢查询|死锁|database|\bdb\b|mysql|postgres|deadlock|slow quer",
    "SYSTEM": r"\bcpu\b|内存|磁盘|主机|系统日志|kernel|memory|disk|\boom\b|host",
}
# Words in found log lines that make another topic worth a look, and what to look for there.
_TRAILS: tuple[tuple[str, str, str], ...] = (
    (
        r"hikari|jdbc|connection pool|connection is not available|transaction|lock wait",
        "DATABASE",
        "transaction OR lock",
    ),
    (r"upstream|gateway|\b50[24]\b", "GATEWAY", 'upstream OR "timed out"'),
    (r"outofmemory|no space left|out of memory", "SYSTEM", "memory OR disk"),
)
_TABLE_LINE = re.compile(r"^- ([\w.-]+): ([\w.$-]+)\(([^)]*)\)", re.MULTILINE)
_STATE = re.compile(r"(?:^|_)(?:status|state|result|level|type)$", re.IGNORECASE)
_GROUP = re.compile(r"(?:^|_)(?:channel|region|code|category|source|method)$", re.IGNORECASE)
_TIME = re.compile(r"(?:_at|_time|_date|^time|^date|timestamp|created|updated)$", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ask:
    """One tool call to make."""

    name: str
    arguments: JsonObject

    def on_the_wire(self, number: int) -> JsonObject:
        arguments = json.dumps(self.arguments, ensure_ascii=False)
        digest = hashlib.sha256(f"{number}:{self.name}:{arguments}".encode()).hexdigest()[:12]
        return {
            "id": f"call_{digest}",
            "type": "function",
            "function": {"name": self.name, "arguments": arguments},
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A table that the description of query_mysql offers."""

    data_source: str
    name: str
    columns: tuple[str, ...]

    def first(self, pattern: re.Pattern[str]) -> str | None:
        return next((column for column in self.columns if pattern.search(column)), None)


def first_round(question: Question, tools: Mapping[str, JsonObject]) -> list[Ask]:
    """All tools that are on offer, with what the question gives."""
    asks = []
    if "lookup_knowledge" in tools:
        asks.append(Ask("lookup_knowledge", {"query": question.text[:MAX_KNOWLEDGE_QUERY]}))
    if "query_logs" in tools:
        topic = topics(question, tools["query_logs"])[0]
        asks += [_logs(topic, query, question.minutes) for query in _log_queries(question)]
    if "query_mysql" in tools:
        asks += [Ask("query_mysql", arguments) for arguments in _statements(question, tools["query_mysql"])]
    return asks


def next_round(question: Question, tools: Mapping[str, JsonObject], calls: Sequence[Call]) -> list[Ask]:
    """What is worth asking after the first results; nothing that was asked before."""
    asks: list[Ask] = []
    if "lookup_knowledge" in tools:
        asks += [] if question.bare else _more_documents(calls)
    if "query_logs" in tools:
        asks += _more_logs(question, tools["query_logs"], calls)
    if "query_mysql" in tools:
        asks += _more_rows(question, tools["query_mysql"], calls)
    asked = [(call.name, call.arguments) for call in calls]
    return [ask for ask in asks if (ask.name, ask.arguments) not in asked]


def topics(question: Question, tool: JsonObject) -> list[str]:
    """The topics on offer, those that the question names first."""
    offered = choices(tool, "topic") or ["APPLICATION"]
    text = question.text.lower()

    def rank(topic: str) -> int:
        if any(part in text for part in re.split(r"[^a-z0-9\u4e00-\u9fff]+", topic.lower()) if len(part) >= 3):
            return 0
        hint = _TOPIC_HINTS.get(topic)
        return 1 if hint and re.search(hint, text) else 2

    return sorted(offered, key=rank)


def choices(tool: JsonObject, argument: str) -> list[str]:
    """The values that the schema allows for an argument."""
    schema = tool.get("parameters", {})
    property_ = schema.get("properties", {}).get(argument, {})
    if "$ref" in property_:
        property_ = schema.get("$defs", {}).get(str(property_["$ref"]).rsplit("/", 1)[-1], {})
    values = property_.get("enum") or ([property_["const"]] if "const" in property_ else [])
    return [str(value) for value in values]


def tables(tool: JsonObject) -> list[Table]:
    """The tables that the description lists."""
    return [
        Table(source, name, tuple(column.strip() for column in columns.split(",") if _PLAIN.fullmatch(column.strip())))
        for source, name, columns in _TABLE_LINE.findall(str(tool.get("description", "")))
    ]


def _logs(topic: str, query: str, minutes: int) -> Ask:
    return Ask("query_logs", {"topic": topic, "query": query[:MAX_LOG_QUERY], "lookback_minutes": minutes})


def _log_queries(question: Question) -> list[str]:
    """At most two: what the question is about, and how it shows."""
    subjects = question.services or question.identifiers or question.subjects
    if question.counts and question.symptoms:
        return [question.symptoms[0]]
    queries = [_word(subjects[0])] if subjects else []
    return [*queries, *question.symptoms[:1]] or ["level:ERROR"]


def _more_documents(calls: Sequence[Call]) -> Iterator[Ask]:
    """What the documents know about the most severe line that was found, and what to do by the closest one."""
    found = (call for call in calls if call.name == "query_logs" and call.status == "EVIDENCE_FOUND")
    patterns = [pattern for call in found for pattern in call.result.get("patterns") or ()]
    severe = [pattern for pattern in patterns if severity(pattern) <= SEVERE]
    if severe:
        line = quote(str(min(severe, key=severity).get("example", "")))
        if line:
            yield Ask("lookup_knowledge", {"query": line})
    documents = [
        each for call in calls if call.name == "lookup_knowledge" for each in call.result.get("evidence") or ()
    ]
    if severe and documents:
        title = str(documents[0].get("title", ""))
        yield Ask("lookup_knowledge", {"query": f"{title} 处理步骤 预防 steps prevention"[:MAX_KNOWLEDGE_QUERY]})


def _more_logs(question: Question, tool: JsonObject, calls: Sequence[Call]) -> Iterator[Ask]:
    found = [call for call in calls if call.name == "query_logs" and call.status == "EVIDENCE_FOUND"]
    order = topics(question, tool)
    if not found:
        if not question.named_window:
            yield _logs(order[0], _log_queries(question)[0], MAX_MINUTES)
        return
    text = " ".join(str(pattern.get("example", "")) for call in found for pattern in call.result.get("patterns", ()))
    asked = {call.arguments.get("topic") for call in calls}
    for pattern, topic, query in _TRAILS:
        if topic in order and topic not in asked and re.search(pattern, text, re.IGNORECASE):
            yield _logs(topic, query, question.minutes)
            return


def _more_rows(question: Question, tool: JsonObject, calls: Sequence[Call]) -> Iterator[Ask]:
    """Where the first statement found nothing, the same without its window."""
    mine = [call for call in calls if call.name == "query_mysql"]
    if mine and not any(call.status == "EVIDENCE_FOUND" for call in mine):
        chosen = _chosen(question, tables(tool))
        for table in chosen[:1]:
            yield Ask("query_mysql", _counts(table, None, table.first(_STATE)))


def _statements(question: Question, tool: JsonObject) -> list[JsonObject]:
    """At most two: rows of a number that the question names, or counts by state; then counts by a second column."""
    chosen = _chosen(question, tables(tool))
    if not chosen:
        return []
    for table in chosen:
        keys = [column for column in table.columns if column.endswith("_id") or column in ("id", "code")]
        for number in question.numbers:
            fitting = [key for key in keys if key.removesuffix("_id") in number.lower()] or keys[:1]
            if fitting:
                sql = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {fitting[0]} = ? LIMIT 10"  # noqa: S608 - a statement for the guard to judge
                return [_statement(table, sql, [number])]
    statements = [_counts(chosen[0], question.minutes, chosen[0].first(_STATE))]
    for table in chosen[:2]:
        group, state = table.first(_GROUP), table.first(_STATE)
        if group is not None:
            statements.append(_counts(table, question.minutes, group, state))
            break
    return statements


def _chosen(question: Question, offered: Sequence[Table]) -> list[Table]:
    """The tables that fit the question best; where none fits, the first."""

    def fit(table: Table) -> int:
        in_name = sum(word in table.name.lower() for word in question.words)
        return 3 * in_name + sum(any(word in column for column in table.columns) for word in question.words)

    ranked = sorted(offered, key=fit, reverse=True)
    return [table for table in ranked if fit(table) > 0] or ranked[:1]


def _counts(table: Table, minutes: int | None, *columns: str | None) -> JsonObject:
    groups = list(dict.fromkeys(column for column in columns if column is not None))
    time = table.first(_TIME)
    sql = f"SELECT {', '.join([*groups, 'COUNT(*) AS total'])} FROM {table.name}"  # noqa: S608 - for the guard to judge
    if minutes is not None and time is not None:
        sql += f" WHERE {time} >= DATE_SUB(NOW(), INTERVAL {minutes} MINUTE)"
    if groups:
        sql += f" GROUP BY {', '.join(groups)} ORDER BY total DESC LIMIT 20"
    return _statement(table, sql, [])


def _statement(table: Table, sql: str, params: Iterable[str]) -> JsonObject:
    return {"data_source": table.data_source, "sql": sql, "params": list(params)}


def _word(text: str) -> str:
    """A word of the log query language; quoted where it could be read as something else."""
    return text if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", text) else '"' + text.replace('"', " ").strip() + '"'
