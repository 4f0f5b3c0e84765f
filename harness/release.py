"""What may be shown: the report with its references, the three fallbacks, and what the next turn may know.

Everything is expanded by code from the draft and the cited `agent_result`s. Source: 04-diagnosis, "Release".
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from harness.evidence_guard import CitableCall
from harness.report import DiagnosisDraft
from harness.snapshot import VerifiedSource, cited_ids
from harness.sources import SourceType, entries, result_of, scope_of, source_of, source_type

MAX_QUERY = 500
MAX_CONCLUSION = 1000
MAX_SCOPE = 500
MAX_LIMITATIONS, MAX_LIMITATION = 10, 200
MAX_DOCUMENTS, MAX_TITLE = 10, 200
_EXCERPT_FIELDS = ("document_id", "source", "title", "breadcrumb", "excerpt")


class FallbackType(StrEnum):
    """Why a fixed answer is shown instead of the report."""

    EVIDENCE_VALIDATION_FAILED = "EVIDENCE_VALIDATION_FAILED"
    SEMANTIC_UNSUPPORTED = "SEMANTIC_UNSUPPORTED"
    SEMANTIC_UNAVAILABLE = "SEMANTIC_UNAVAILABLE"


class SourceDocument(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str
    title: str = Field(max_length=MAX_TITLE)


class PublishedResult(BaseModel):
    """What the next turn of the session may know of a released diagnosis. Source: 04-diagnosis, PreviousTurn."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user_query: str = Field(max_length=MAX_QUERY)
    published_conclusion: str | None = Field(max_length=MAX_CONCLUSION)
    scope: str = Field(max_length=MAX_SCOPE)
    limitations: list[str] = Field(max_length=MAX_LIMITATIONS)
    source_documents: list[SourceDocument] = Field(max_length=MAX_DOCUMENTS)


class _Wording(BaseModel):
    message: str
    limitations: list[str]
    next_steps: list[str]


_ENGLISH = {
    FallbackType.EVIDENCE_VALIDATION_FAILED: _Wording(
        message="The report's citations could not be verified, so it is not shown.",
        limitations=["The evidence check failed twice; no claim of the report is confirmed."],
        next_steps=[
            "Ask again and name the service, the symptom and the time range.",
            "Narrow the question to one service or one order.",
        ],
    ),
    FallbackType.SEMANTIC_UNSUPPORTED: _Wording(
        message="The evidence found is not enough to confirm a cause.",
        limitations=["The review found that the evidence does not carry the whole report, so none of it is shown."],
        next_steps=[
            "Look at the sources listed here directly.",
            "Add what is missing (service, error code, time range) and ask again.",
        ],
    ),
    FallbackType.SEMANTIC_UNAVAILABLE: _Wording(
        message="The report could not be reviewed, so it is not shown.",
        limitations=["The review was not available; no claim of the report is confirmed."],
        next_steps=[
            "Ask again in a few minutes.",
            "Narrow the question or the time range.",
            "Look at the sources listed here directly.",
        ],
    ),
}
_CHINESE = {
    FallbackType.EVIDENCE_VALIDATION_FAILED: _Wording(
        message="报告中的引用未能通过核验，因此不予展示。",
        limitations=["证据校验两次未通过，报告中的任何结论均未得到确认。"],
        next_steps=["请说明服务、现象和时间范围后重新提问。", "请将问题缩小到单个服务或单个订单。"],
    ),
    FallbackType.SEMANTIC_UNSUPPORTED: _Wording(
        message="当前证据不足，无法确认根因。",
        limitations=["语义审查认为证据不足以支撑完整报告，因此不展示其中任何内容。"],
        next_steps=["请直接查看此处列出的来源。", "请补充缺失的信息（服务、错误码、时间范围）后重新提问。"],
    ),
    FallbackType.SEMANTIC_UNAVAILABLE: _Wording(
        message="报告未能完成审查，因此不予展示。",
        limitations=["语义审查暂不可用，报告中的任何结论均未得到确认。"],
        next_steps=["请几分钟后重新提问。", "请缩小问题或时间范围。", "请直接查看此处列出的来源。"],
    ),
}


def report_payload(draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> dict[str, Any]:
    """The DIAGNOSIS_REPORT payload: the draft word for word, its tool call ids replaced by references.

    `draft` has passed EvidenceGuard with these `calls`. The order of keys is part of the contract.
    """
    reference_ids = {tool_call_id: f"R{number}" for number, tool_call_id in enumerate(cited_ids(draft), start=1)}
    return {
        "conclusion": None if draft.conclusion is None else draft.conclusion.model_dump(mode="json"),
        "analysis": [
            {
                "analysis_id": analysis.analysis_id,
                "kind": analysis.kind,
                "text": analysis.text,
                "reference_ids": [reference_ids[each] for each in dict.fromkeys(analysis.tool_call_ids)],
            }
            for analysis in draft.analysis
        ],
        "action_plan": [action.model_dump(mode="json") for action in draft.action_plan],
        "recommendations": [item.model_dump(mode="json") for item in draft.recommendations],
        "limitations": draft.limitations.model_dump(mode="json"),
        "references": [_reference(reference_ids[each], calls[each]) for each in reference_ids],
    }


def fallback_payload(kind: FallbackType, language: str, sources: Sequence[VerifiedSource]) -> dict[str, Any]:
    """The FALLBACK payload in `zh-hans` or `en`: fixed words, and `sources` unless the evidence check failed."""
    wording = (_CHINESE if language.lower().startswith("zh") else _ENGLISH)[kind]
    shown = [] if kind is FallbackType.EVIDENCE_VALIDATION_FAILED else sources
    return {
        "type": kind.value,
        "conclusion": None,
        "message": wording.message,
        "verified_sources": [source.model_dump(mode="json") for source in shown],
        "limitations": list(wording.limitations),
        "next_steps": list(wording.next_steps),
    }


def published_result(query: str, draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> PublishedResult:
    """The bounded result that a later question may refer to; cut by characters, never summarised."""
    return PublishedResult(
        user_query=query[:MAX_QUERY],
        published_conclusion=None if draft.conclusion is None else draft.conclusion.text[:MAX_CONCLUSION],
        scope=draft.limitations.scope[:MAX_SCOPE],
        limitations=[text[:MAX_LIMITATION] for text in draft.limitations.missing_info[:MAX_LIMITATIONS]],
        source_documents=_documents(draft, calls)[:MAX_DOCUMENTS],
    )


def _documents(draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> list[SourceDocument]:
    titles: dict[str, str] = {}
    for tool_call_id in cited_ids(draft):
        for passage in entries(result_of(calls[tool_call_id]), "evidence"):
            titles.setdefault(str(passage["document_id"]), str(passage.get("title") or ""))
    return [SourceDocument(document_id=each, title=title[:MAX_TITLE]) for each, title in titles.items()]


def _reference(reference_id: str, call: CitableCall) -> dict[str, Any]:
    result = result_of(call)
    kind = source_type(call)
    reference: dict[str, Any] = {
        "reference_id": reference_id,
        "source_type": kind.value,
        "source": source_of(call),
    }
    if kind is SourceType.LOG:
        reference["source_kind"] = result.get("source_kind")
    reference["scope"] = scope_of(call, counts=True)
    reference["timestamp"] = call.started_at.isoformat()
    match kind:
        case SourceType.KNOWLEDGE:
            passages = entries(result, "evidence")
            reference["excerpts"] = [{name: passage.get(name) for name in _EXCERPT_FIELDS} for passage in passages]
        case SourceType.LOG:
            reference |= {"patterns": entries(result, "patterns"), "events": entries(result, "events")}
        case SourceType.MYSQL:
            reference |= {"columns": entries(result, "columns"), "rows": entries(result, "rows")}
    return reference
