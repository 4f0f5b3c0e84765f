"""The diagnosis executor: agent, EvidenceGuard with one repair, SemanticGuard, release. Source: 04-diagnosis."""

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis.agent import Conversation, investigate
from diagnosis.messages import to_json
from diagnosis.released import Released
from diagnosis.semantic_guard import Verdict, review
from diagnosis.services import Services
from harness.context import RunContext
from harness.errors import FailureCode, RunFailedError, StoreUnavailableError
from harness.evidence_guard import Figures, GuardError, check_evidence
from harness.model import ModelCall
from harness.progress import Progress, StatusCode, StatusUpdate
from harness.provider import Answer
from harness.recorder import (
    AgentStarted,
    DraftReceived,
    EvidenceChecked,
    EvidenceRepairStarted,
    GuardErrorRecord,
    Purpose,
)
from harness.release import FallbackType, fallback_payload, published_result, report_payload
from harness.report import DiagnosisDraft, DraftInvalidError, parse_draft
from harness.snapshot import VerifiedSource, verified_snapshot, verified_sources
from harness.store import InvocationRecord
from harness.tools.base import JsonObject

_RECORDED_ERRORS = 20


@dataclass(frozen=True, slots=True)
class _Checked:
    draft: DiagnosisDraft
    calls: Mapping[str, InvocationRecord]


async def diagnose(
    ctx: RunContext,
    services: Services,
    query: str,
    previous_turn: JsonObject | None,
    language: str,
    progress: Progress,
) -> Released:
    """A report that both guards let pass, or one of the three fallbacks."""
    progress(StatusUpdate(code=StatusCode.DIAGNOSIS_STARTED))
    ctx.recorder.event(AgentStarted(has_previous_turn=previous_turn is not None))
    conversation = await investigate(ctx, services, query, previous_turn, progress)
    checked = await _check(ctx, services, conversation.draft_text, 1, progress)
    if isinstance(checked, list):
        text = await _repair(ctx, services, conversation, checked, progress)
        checked = await _check(ctx, services, text, 2, progress)
    if isinstance(checked, list):
        return _fallback(FallbackType.EVIDENCE_VALIDATION_FAILED, language, [], checked[0].code)
    draft, calls = checked.draft, checked.calls
    progress(StatusUpdate(code=StatusCode.SEMANTIC_VALIDATING))
    verdict, why = await review(ctx, services, _review_input(query, draft, calls))
    if verdict is not Verdict.SUPPORTED:
        unsupported = verdict is Verdict.UNSUPPORTED
        kind = FallbackType.SEMANTIC_UNSUPPORTED if unsupported else FallbackType.SEMANTIC_UNAVAILABLE
        return _fallback(kind, language, verified_sources(draft, calls), why)
    return Released(
        outcome="SUCCESS",
        content_type="DIAGNOSIS_REPORT",
        payload=report_payload(draft, calls),
        published_result=published_result(query, draft, calls).model_dump(mode="json"),
    )


async def _check(
    ctx: RunContext, services: Services, text: str, attempt: int, progress: Progress
) -> _Checked | list[GuardError]:
    """EvidenceGuard over one draft: what passed, or all errors."""
    progress(StatusUpdate(code=StatusCode.EVIDENCE_VALIDATING))
    ctx.recorder.event(DraftReceived(characters=len(text), repaired=attempt > 1))
    try:
        draft = parse_draft(text)
    except DraftInvalidError as error:
        _record(ctx, attempt, error.errors, Figures())
        return error.errors
    cited = [tool_call_id for item in draft.analysis for tool_call_id in item.tool_call_ids]
    try:
        calls = await services.tools.store.load(ctx.run_id, cited)
    except StoreUnavailableError as error:
        raise RunFailedError(FailureCode.STORE_UNAVAILABLE) from error
    guard = services.settings.evidence_guard
    result = check_evidence(draft, calls, require_figures=guard.require_figures)
    _record(ctx, attempt, result.errors, result.figures)
    return result.errors if result.errors else _Checked(draft, calls)


def _record(ctx: RunContext, attempt: int, errors: list[GuardError], figures: Figures) -> None:
    ctx.recorder.event(
        EvidenceChecked(
            attempt=attempt,
            passed=not errors,
            errors=[GuardErrorRecord(path=e.path[:200], code=e.code) for e in errors[:_RECORDED_ERRORS]],
            error_count=len(errors),
            figures_total=figures.total,
            figures_found=figures.found,
            figures_missing=[figure[:60] for figure in figures.missing[:_RECORDED_ERRORS]],
        )
    )


async def _repair(
    ctx: RunContext, services: Services, conversation: Conversation, errors: list[GuardError], progress: Progress
) -> str:
    """One more turn of the same conversation, without tools: the errors go in, a draft comes out."""
    progress(StatusUpdate(code=StatusCode.EVIDENCE_REPAIRING))
    ctx.recorder.event(EvidenceRepairStarted(error_count=len(errors)))
    told = [{"path": error.path, "code": error.code, "message": error.message} for error in errors]
    call = ModelCall(
        purpose=Purpose.EVIDENCE_REPAIR,
        messages=[*conversation.messages, {"role": "user", "content": to_json({"errors": told})}],
        timeout_seconds=services.settings.timeouts.agent_call,
    )

    def read(answer: Answer) -> str:
        return "" if answer.finish_reason == "length" else answer.text or ""

    return await services.model.complete(ctx, call, read)


def _review_input(query: str, draft: DiagnosisDraft, calls: Mapping[str, InvocationRecord]) -> JsonObject:
    return {
        "query": query,
        "draft": draft.model_dump(mode="json", exclude={"analysis": {"__all__": {"tool_call_ids"}}}),
        "evidence": [item.model_dump(mode="json") for item in verified_snapshot(draft, calls)],
    }


def _fallback(kind: FallbackType, language: str, sources: list[VerifiedSource], reason: str) -> Released:
    return Released(
        outcome="FALLBACK",
        content_type="FALLBACK",
        payload=fallback_payload(kind, language, sources),
        fallback_type=kind.value,
        fallback_reason=reason,
    )
