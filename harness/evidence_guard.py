"""EvidenceGuard: each citation of a draft points to a real, citable call of this run.

Deterministic and pure: a draft and the cited records go in, all errors come out at once. It does not judge
whether the text follows from the evidence. Source: 04-diagnosis, "EvidenceGuard".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from harness.confirmation import needs_confirmation
from harness.figures import Evidence, Figures, missing_figures
from harness.recorder import ToolCallStatus
from harness.report import Analysis, DiagnosisDraft, GuardError
from harness.tools.base import EvidenceStatus

__all__ = ["CitableCall", "EvidenceCheck", "Figures", "GuardCode", "GuardError", "check_evidence"]

_NAMED_FIGURES = 10


class GuardCode(StrEnum):
    """Why a draft is refused; SCHEMA_INVALID comes from `harness.report`."""

    SCHEMA_INVALID = "SCHEMA_INVALID"
    DUPLICATE_ANALYSIS_ID = "DUPLICATE_ANALYSIS_ID"
    EMPTY_TOOL_CALL_IDS = "EMPTY_TOOL_CALL_IDS"
    UNKNOWN_TOOL_CALL = "UNKNOWN_TOOL_CALL"
    TOOL_CALL_NOT_READY = "TOOL_CALL_NOT_READY"
    MISSING_AGENT_RESULT = "MISSING_AGENT_RESULT"
    NOT_CITABLE = "NOT_CITABLE"
    KIND_MISMATCH = "KIND_MISMATCH"
    EMPTY_ANALYSIS_REFS = "EMPTY_ANALYSIS_REFS"
    UNKNOWN_ANALYSIS_ID = "UNKNOWN_ANALYSIS_ID"
    FIGURE_NOT_IN_EVIDENCE = "FIGURE_NOT_IN_EVIDENCE"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"


_MESSAGES = {
    GuardCode.DUPLICATE_ANALYSIS_ID: "This analysis_id is used before. Give each analysis an id of its own.",
    GuardCode.EMPTY_TOOL_CALL_IDS: "Cite at least one tool call that shows this, or remove the analysis.",
    GuardCode.UNKNOWN_TOOL_CALL: "No tool call of this run has this id. Copy ids exactly from the results.",
    GuardCode.TOOL_CALL_NOT_READY: "This tool call did not finish. Cite a call that returned a result.",
    GuardCode.MISSING_AGENT_RESULT: "This tool call has no result. Cite a call that returned a result.",
    GuardCode.NOT_CITABLE: "This tool call ended with ERROR, which shows nothing. Cite another call or drop the claim.",
    GuardCode.EMPTY_ANALYSIS_REFS: "Name at least one analysis that supports this, or remove it.",
    GuardCode.UNKNOWN_ANALYSIS_ID: "No analysis has this id. Name ids from `analysis`.",
    GuardCode.CONFIRMATION_REQUIRED: (
        "This action restarts, deletes, stops, scales, reconfigures or writes. Set requires_human_confirmation to true."
    ),
}
_MISMATCHES = {
    "NORMAL": "A NORMAL analysis cites only calls with EVIDENCE_FOUND. Cite such a call, or say in a "
    "NEGATIVE_OBSERVATION that nothing was found in that scope.",
    "NEGATIVE_OBSERVATION": "A NEGATIVE_OBSERVATION cites only calls with NO_EVIDENCE. Cite such a call, or make the "
    "analysis NORMAL.",
}
_CITABLE = {"NORMAL": EvidenceStatus.EVIDENCE_FOUND, "NEGATIVE_OBSERVATION": EvidenceStatus.NO_EVIDENCE}


class CitableCall(Protocol):
    """What the guard and the release read of a canonical record."""

    @property
    def tool_name(self) -> str: ...

    @property
    def request(self) -> dict[str, Any]: ...

    @property
    def status(self) -> ToolCallStatus: ...

    @property
    def evidence_status(self) -> EvidenceStatus | None: ...

    @property
    def agent_result(self) -> dict[str, Any] | None: ...

    @property
    def started_at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """No errors means that the draft may go on to the semantic review."""

    errors: list[GuardError]
    figures: Figures


def check_evidence(draft: DiagnosisDraft, calls: Mapping[str, CitableCall], *, require_figures: bool) -> EvidenceCheck:
    """Check every citation of `draft` against `calls`, the records of this run by tool call id."""
    errors = [*_analysis_errors(draft, calls), *_reference_errors(draft)]
    total, missing = 0, list[str]()
    evidence = _evidence(draft, calls)
    for index, analysis in enumerate(draft.analysis):
        cited = [evidence[each] for each in dict.fromkeys(analysis.tool_call_ids) if each in evidence]
        count, absent = missing_figures(analysis.text, cited)
        total += count
        missing += absent
        if absent and require_figures:
            message = (
                "The cited results do not hold: "
                + ", ".join(absent[:_NAMED_FIGURES])
                + ". Copy figures exactly, cite the call that shows them, or leave them out."
            )
            errors.append(GuardError(f"$.analysis[{index}].text", GuardCode.FIGURE_NOT_IN_EVIDENCE.value, message))
    return EvidenceCheck(errors, Figures(total, total - len(missing), missing))


def _analysis_errors(draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> Iterator[GuardError]:
    seen: set[str] = set()
    for index, analysis in enumerate(draft.analysis):
        path = f"$.analysis[{index}]"
        if analysis.analysis_id in seen:
            yield _error(f"{path}.analysis_id", GuardCode.DUPLICATE_ANALYSIS_ID)
        seen.add(analysis.analysis_id)
        if not analysis.tool_call_ids:
            yield _error(f"{path}.tool_call_ids", GuardCode.EMPTY_TOOL_CALL_IDS)
        for place, tool_call_id in enumerate(analysis.tool_call_ids):
            code = _citation_fault(analysis, calls.get(tool_call_id))
            if code is GuardCode.KIND_MISMATCH:
                yield GuardError(f"{path}.tool_call_ids[{place}]", code.value, _MISMATCHES[analysis.kind])
            elif code is not None:
                yield _error(f"{path}.tool_call_ids[{place}]", code)


def _citation_fault(analysis: Analysis, call: CitableCall | None) -> GuardCode | None:
    if call is None:
        return GuardCode.UNKNOWN_TOOL_CALL
    if call.status is ToolCallStatus.ERROR or call.evidence_status is EvidenceStatus.ERROR:
        return GuardCode.NOT_CITABLE
    if call.status is not ToolCallStatus.READY:
        return GuardCode.TOOL_CALL_NOT_READY
    if call.agent_result is None:
        return GuardCode.MISSING_AGENT_RESULT
    if call.evidence_status is None:
        return GuardCode.NOT_CITABLE
    return None if call.evidence_status is _CITABLE[analysis.kind] else GuardCode.KIND_MISMATCH


def _reference_errors(draft: DiagnosisDraft) -> Iterator[GuardError]:
    known = {analysis.analysis_id for analysis in draft.analysis}
    if draft.conclusion is not None:
        yield from _refs("$.conclusion", draft.conclusion.based_on_analysis_ids, known)
    for index, action in enumerate(draft.action_plan):
        path = f"$.action_plan[{index}]"
        yield from _refs(path, action.based_on_analysis_ids, known)
        if not action.requires_human_confirmation and needs_confirmation(action.action):
            yield _error(f"{path}.requires_human_confirmation", GuardCode.CONFIRMATION_REQUIRED)
    for index, recommendation in enumerate(draft.recommendations):
        yield from _refs(f"$.recommendations[{index}]", recommendation.based_on_analysis_ids, known)


def _refs(path: str, analysis_ids: list[str], known: set[str]) -> Iterator[GuardError]:
    if not analysis_ids:
        yield _error(f"{path}.based_on_analysis_ids", GuardCode.EMPTY_ANALYSIS_REFS)
    for place, analysis_id in enumerate(analysis_ids):
        if analysis_id not in known:
            yield _error(f"{path}.based_on_analysis_ids[{place}]", GuardCode.UNKNOWN_ANALYSIS_ID)


def _evidence(draft: DiagnosisDraft, calls: Mapping[str, CitableCall]) -> dict[str, Evidence]:
    """The results of all cited calls; each is read once, however many analyses cite it."""
    cited = dict.fromkeys(each for analysis in draft.analysis for each in analysis.tool_call_ids)
    results = {each: calls[each].agent_result for each in cited if each in calls}
    return {each: Evidence(result) for each, result in results.items() if result is not None}


def _error(path: str, code: GuardCode) -> GuardError:
    return GuardError(path, code.value, _MESSAGES[code])
