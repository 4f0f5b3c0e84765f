"""The verified snapshot: what SemanticGuard sees of each cited call, and the source list of a fallback.

Built by code from the bounded `agent_result`s, grouped by analysis, without any tool call id. Source:
04-diagnosis, "SemanticGuard".
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from harness.evidence_guard import CitableCall
from harness.report import DiagnosisDraft
from harness.sources import SourceType, entries, result_of, scope_of, source_of, source_type


class Item(BaseModel):
    """Base of what a snapshot holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Passage(Item):
    """One excerpt of a document."""

    source_type: Literal[SourceType.KNOWLEDGE] = SourceType.KNOWLEDGE
    document_id: str
    title: str
    breadcrumb: str
    excerpt: str


class NoPassage(Item):
    """A look-up that found no document; it can only show that nothing was found."""

    source_type: Literal[SourceType.KNOWLEDGE] = SourceType.KNOWLEDGE
    query: str
    returned_count: Literal[0] = 0


class LogLines(Item):
    """Patterns and sampled events of one log query."""

    source_type: Literal[SourceType.LOG] = SourceType.LOG
    source: str
    source_kind: str
    scope: str
    patterns: list[dict[str, Any]]
    events: list[dict[str, Any]]


class Rows(Item):
    """Rows of one statement."""

    source_type: Literal[SourceType.MYSQL] = SourceType.MYSQL
    source: str
    scope: str
    columns: list[str]
    rows: list[dict[str, Any]]


class AnalysisEvidence(Item):
    """One analysis with all that its cited calls returned."""

    analysis_id: str
    analysis_text: str
    verified_evidence: list[Passage | NoPassage | LogLines | Rows]


class VerifiedSource(Item):
    """A source that was really asked: its name and the scope of the question, no content."""

    source_type: SourceType
    source: str
    scope: str


def verified_snapshot(draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> list[AnalysisEvidence]:
    """The evidence of each analysis. `draft` has passed EvidenceGuard with these `calls`."""
    return [
        AnalysisEvidence(
            analysis_id=analysis.analysis_id,
            analysis_text=analysis.text,
            verified_evidence=[
                item for tool_call_id in dict.fromkeys(analysis.tool_call_ids) for item in _items(calls[tool_call_id])
            ],
        )
        for analysis in draft.analysis
    ]


def verified_sources(draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> list[VerifiedSource]:
    """The sources of all cited calls in order of first use, each once."""
    sources = [
        VerifiedSource(source_type=source_type(call), source=source_of(call), scope=scope_of(call, counts=False))
        for call in (calls[tool_call_id] for tool_call_id in cited_ids(draft))
    ]
    return list(dict.fromkeys(sources))


def cited_ids(draft: DiagnosisDraft) -> list[str]:
    """All cited tool call ids in order of first use."""
    return list(dict.fromkeys(each for analysis in draft.analysis for each in analysis.tool_call_ids))


def _items(call: CitableCall) -> list[Passage | NoPassage | LogLines | Rows]:
    result = result_of(call)
    match source_type(call):
        case SourceType.LOG:
            return [
                LogLines(
                    source=source_of(call),
                    source_kind=str(result.get("source_kind", "")),
                    scope=scope_of(call, counts=True),
                    patterns=entries(result, "patterns"),
                    events=entries(result, "events"),
                )
            ]
        case SourceType.MYSQL:
            return [
                Rows(
                    source=source_of(call),
                    scope=scope_of(call, counts=True),
                    columns=entries(result, "columns"),
                    rows=entries(result, "rows"),
                )
            ]
        case SourceType.KNOWLEDGE:
            found = entries(result, "evidence")
            if not found:
                return [NoPassage(query=str(result.get("query", "")))]
            names = ("document_id", "title", "breadcrumb", "excerpt")
            return [Passage(**{name: str(each.get(name) or "") for name in names}) for each in found]
