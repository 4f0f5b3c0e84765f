"""The two executors without an agent: a plain answer, and an answer from one knowledge look-up."""

from typing import Annotated

from pydantic import Field, ValidationError

from diagnosis.messages import opening, to_json
from diagnosis.released import Released
from diagnosis.services import Services
from diagnosis.texts import no_knowledge
from harness.boundary import WireToolCall
from harness.context import RunContext
from harness.errors import FailureCode, RunFailedError, ToolErrorCode
from harness.model import ModelCall
from harness.plain_text import plain_json
from harness.progress import Progress, StatusCode, StatusUpdate
from harness.provider import Answer
from harness.recorder import Purpose
from harness.release import FallbackType, fallback_payload
from harness.reply import json_text
from harness.strict_json import StrictJsonError
from harness.tools.base import EvidenceStatus, JsonObject, StrictModel

KNOWLEDGE_CALL_ID = "knowledge-1"
"""The one tool call id that the harness gives, since no framework is in play."""
MAX_QUERY_CHARACTERS = 500


class KnowledgeAnswer(StrictModel):
    """The model's whole reply. Source: 02-harness, "Model boundary"."""

    answer: Annotated[str, Field(min_length=1, max_length=20_000)]
    references: list[str]
    limitations: Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=20)]


async def answer_chat(ctx: RunContext, services: Services, query: str, progress: Progress) -> Released:
    """Answer a question about the system itself, without tools."""
    progress(StatusUpdate(code=StatusCode.ANSWERING))
    text = await _ask(ctx, services, Purpose.SYSTEM_CHAT, {"query": query})
    return Released(outcome="SUCCESS", content_type="SYSTEM_ANSWER", payload={"answer": text.strip()})


async def answer_from_knowledge(
    ctx: RunContext, services: Services, query: str, language: str, progress: Progress
) -> Released:
    """One look-up with the user's own words, then one answer that names documents from it.

    Nothing found is a fixed answer. An answer that names none of the found documents, or others, is a
    fallback. Source: 04-diagnosis, "Executors".
    """
    progress(StatusUpdate(code=StatusCode.KNOWLEDGE_SEARCHING))
    call = WireToolCall(KNOWLEDGE_CALL_ID, "lookup_knowledge", to_json({"query": query[:MAX_QUERY_CHARACTERS]}))
    found = await services.tools.open(ctx, progress).execute(call)
    if found["evidence_status"] == EvidenceStatus.ERROR:
        away = found["error"]["code"] == ToolErrorCode.STORE_UNAVAILABLE
        raise RunFailedError(FailureCode.STORE_UNAVAILABLE if away else FailureCode.KNOWLEDGE_UNAVAILABLE)
    if found["evidence_status"] == EvidenceStatus.NO_EVIDENCE:
        return Released(outcome="SUCCESS", content_type="KNOWLEDGE_ANSWER", payload=no_knowledge(language))
    evidence = found["evidence"]
    progress(StatusUpdate(code=StatusCode.ANSWERING))
    text = await _ask(ctx, services, Purpose.KNOWLEDGE_ANSWER, {"query": query, "evidence": evidence})
    progress(StatusUpdate(code=StatusCode.EVIDENCE_VALIDATING))
    try:
        answer = KnowledgeAnswer.model_validate(plain_json(json_text(text)))
    except (ValidationError, StrictJsonError):
        return _refused(language, "ANSWER_INVALID")
    documents = {passage["document_id"] for passage in evidence}
    if not answer.references or not documents.issuperset(answer.references):
        return _refused(language, "REFERENCES_INVALID")
    payload = {
        "answer": answer.answer,
        "references": [passage for passage in evidence if passage["document_id"] in answer.references],
        "limitations": answer.limitations,
    }
    return Released(outcome="SUCCESS", content_type="KNOWLEDGE_ANSWER", payload=payload)


async def _ask(ctx: RunContext, services: Services, purpose: Purpose, data: JsonObject) -> str:
    call = ModelCall(
        purpose=purpose,
        messages=opening(purpose.value, data),
        timeout_seconds=services.settings.timeouts.answer,
    )
    return await services.model.complete(ctx, call, Answer.whole_text)


def _refused(language: str, reason: str) -> Released:
    kind = FallbackType.EVIDENCE_VALIDATION_FAILED
    return Released(
        outcome="FALLBACK",
        content_type="FALLBACK",
        payload=fallback_payload(kind, language, []),
        fallback_type=kind.value,
        fallback_reason=reason,
    )
