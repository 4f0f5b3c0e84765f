"""The review of the demo model, by plain rules: figures, kinds, confirmation and simulated data."""

from collections.abc import Iterator, Sequence

from harness.confirmation import needs_confirmation
from harness.figures import Evidence, missing_figures
from superbiz.demo.offline.conversation import JsonObject

_SIMULATED = ("mock", "模拟", "simulated")


def review(data: JsonObject) -> JsonObject:
    """The verdict on `{"query", "draft", "evidence"}`. Source: 04-diagnosis, "SemanticGuard"."""
    fault = next(_faults(data.get("draft") or {}, data.get("evidence") or []), None)
    if fault is not None:
        return {"verdict": "UNSUPPORTED", "reason": fault}
    return {"verdict": "SUPPORTED", "reason": "Every figure and quotation is in the evidence that is cited for it."}


def _faults(draft: JsonObject, items: Sequence[JsonObject]) -> Iterator[str]:
    evidence = {str(item.get("analysis_id")): item.get("verified_evidence") or [] for item in items}
    kinds = {str(each.get("analysis_id")): each.get("kind") for each in draft.get("analysis") or ()}
    for each in draft.get("analysis") or ():
        analysis_id = str(each.get("analysis_id"))
        yield from _unfounded(f"analysis {analysis_id}", str(each.get("text", "")), evidence.get(analysis_id, []))
        if each.get("kind") == "NORMAL" and not evidence.get(analysis_id):
            yield f"analysis {analysis_id} has no evidence"
    conclusion = draft.get("conclusion")
    if conclusion:
        named = [str(each) for each in conclusion.get("based_on_analysis_ids") or ()]
        if all(kinds.get(each) == "NEGATIVE_OBSERVATION" for each in named):
            yield "the conclusion rests on nothing that was found"
        basis = [item for each in named for item in evidence.get(each, [])]
        yield from _unfounded("the conclusion", str(conclusion.get("text", "")), basis)
    for place, action in enumerate(draft.get("action_plan") or (), start=1):
        if needs_confirmation(str(action.get("action", ""))) and not action.get("requires_human_confirmation"):
            yield f"action {place} needs human confirmation"
    simulated = any(item.get("source_kind") == "MOCK" for found in evidence.values() for item in found)
    if simulated and not any(word in str(draft).lower() for word in _SIMULATED):
        yield "simulated data is presented as a fact of production"


def _unfounded(what: str, text: str, items: Sequence[JsonObject]) -> Iterator[str]:
    _, missing = missing_figures(text, [Evidence(item) for item in items])
    if missing:
        yield f"{what} names what its evidence does not hold: {', '.join(missing[:5])}"
