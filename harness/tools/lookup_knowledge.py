"""lookup_knowledge: internal documents for the agent. Source: 03-tools, "lookup_knowledge"."""

from typing import Annotated, ClassVar

from pydantic import Field

from harness.config import Count, Section
from harness.context import RunContext
from harness.errors import ToolCallError, ToolErrorCode
from harness.redaction import redact_text
from harness.tools.base import EvidenceStatus, JsonObject, StrictModel
from harness.tools.summary import ToolSummary
from knowledge.errors import KnowledgeUnavailableError
from knowledge.lookup import find

_CANDIDATES = 12


class LookupLimits(Section):
    """What the agent sees of one look-up."""

    max_excerpts: Count = Field(6, description="Excerpts of one look-up (excerpts).")
    max_excerpt_characters: Count = Field(1_200, description="One excerpt (characters).")
    max_characters: Annotated[int, Field(gt=0, le=100_000)] = Field(
        6_000, description="All excerpts of one look-up (characters)."
    )


class LookupArguments(StrictModel):
    """What the agent asks."""

    query: Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")] = Field(
        description="The question or keywords to look for."
    )


class KnowledgeTool:
    """Finds passages; knows nothing of scores or traces."""

    name: ClassVar[str] = "lookup_knowledge"
    description = (
        "Looks up internal documents, interface notes, error codes and runbooks. For stable background knowledge,"
        " not for live logs, metrics or database state. `query`: the question or keywords to look for."
    )
    arguments = LookupArguments

    def __init__(self, timeout_seconds: float, limits: LookupLimits | None = None) -> None:
        self.timeout_seconds = timeout_seconds
        self._limits = limits or LookupLimits()

    async def run(self, ctx: RunContext, arguments: LookupArguments) -> JsonObject:
        """All candidates with their scores. Raises `ToolCallError` (UNAVAILABLE)."""
        try:
            found = await find(arguments.query, _CANDIDATES)
        except KnowledgeUnavailableError as error:
            raise ToolCallError(ToolErrorCode.UNAVAILABLE, "The documents are not available now.") from error
        return {
            "passages": [
                {
                    "document_id": passage.document_id,
                    "source": passage.source,
                    "title": passage.title,
                    "breadcrumb": passage.breadcrumb,
                    "excerpt": passage.excerpt,
                    "score": passage.score,
                }
                for passage in found
            ]
        }

    def project(self, raw: JsonObject, arguments: LookupArguments, tool_call_id: str) -> JsonObject:
        """The best excerpts within the limits: slices of their documents, masked, without repetitions."""
        evidence: list[JsonObject] = []
        seen: set[tuple[str, str]] = set()
        room = self._limits.max_characters
        truncated = False
        for passage in raw["passages"]:
            whole = passage["excerpt"]
            excerpt = redact_text(whole)[: min(self._limits.max_excerpt_characters, room)]
            if (passage["document_id"], whole) in seen:
                continue
            seen.add((passage["document_id"], whole))
            if len(evidence) == self._limits.max_excerpts or not excerpt:
                truncated = True
                break
            truncated = truncated or len(excerpt) < len(redact_text(whole))
            room -= len(excerpt)
            names = ("document_id", "source", "title", "breadcrumb")
            evidence.append({**{name: redact_text(passage[name]) for name in names}, "excerpt": excerpt})
        status = EvidenceStatus.EVIDENCE_FOUND if evidence else EvidenceStatus.NO_EVIDENCE
        return {
            "evidence_status": status.value,
            "tool_call_id": tool_call_id,
            "query": redact_text(arguments.query),
            "evidence": evidence,
            "returned_count": len(evidence),
            "truncated": truncated,
        }

    def summarize(self, arguments: LookupArguments, agent_result: JsonObject | None) -> ToolSummary:
        """The documents found, by id."""
        if agent_result is None:
            return ToolSummary()
        documents = dict.fromkeys(entry["document_id"] for entry in agent_result["evidence"])
        return ToolSummary(
            returned_count=agent_result["returned_count"],
            truncated=agent_result["truncated"],
            document_ids=list(documents),
        )

    def normalise(self, arguments: LookupArguments) -> str:
        """The words, whatever their case and spacing."""
        return " ".join(arguments.query.lower().split())
