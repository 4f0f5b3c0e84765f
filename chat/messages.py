"""What the user reads while a run goes on and when it fails, in the user's language.

Messages are ours: tool names, topics, logical data sources, counts and times, nothing else. Source: 01-chat.
"""

from typing import assert_never

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from harness.errors import FailureCode
from harness.progress import StatusCode, StatusUpdate

FAILED_MARK = "✗ "  # leads the line of a tool call that failed; the page shows such a line as failed


def status_message(update: StatusUpdate, language: str) -> str:
    """One line, but for the plan: one line a step."""
    with translation.override(language):
        return _status(update)


def failure_message(code: FailureCode, language: str) -> str:
    with translation.override(language):
        return _failure(code)


def _status(update: StatusUpdate) -> str:
    match update.code:
        case StatusCode.ROUTING:
            return _("Understanding the question")
        case StatusCode.ANSWERING:
            return _("Writing the answer")
        case StatusCode.KNOWLEDGE_SEARCHING:
            return _("Searching the knowledge base")
        case StatusCode.DIAGNOSIS_STARTED:
            return _("Diagnosis started")
        case StatusCode.DIAGNOSIS_PLAN:
            return "\n".join(update.plan or _default_plan())
        case StatusCode.TOOL_RUNNING:
            return _("%(tool)s is running") % {"tool": _tool(update)}
        case StatusCode.TOOL_FINISHED:
            return _finished(update)
        case StatusCode.DRAFTING:
            return _("Writing the report")
        case StatusCode.EVIDENCE_VALIDATING:
            return _("Checking the evidence of the report")
        case StatusCode.EVIDENCE_REPAIRING:
            return _("Repairing the evidence of the report")
        case StatusCode.SEMANTIC_VALIDATING:
            return _("Checking that the evidence supports the report")
        case StatusCode.RELEASING:
            return _("Releasing the result")
    assert_never(update.code)


def _default_plan() -> list[str]:
    return [
        _("Look for known solutions in the knowledge base"),
        _("Check the logs around the time of the problem"),
        _("Check the business data that is concerned"),
        _("Compare the findings and write the report"),
    ]


def _tool(update: StatusUpdate) -> str:
    """`query_logs (payment, last 30 min)`."""
    name = update.tool_name or _("An unknown tool")
    facts = [fact for fact in (update.topic, update.data_source) if fact]
    if update.lookback_minutes is not None:
        facts.append(_("last %(minutes)d min") % {"minutes": update.lookback_minutes})
    return f"{name} ({', '.join(facts)})" if facts else name


def _finished(update: StatusUpdate) -> str:
    """`query_logs (payment): 12 results, 40 ms`, or `✗ query_logs (payment): timed out, 10000 ms`."""
    match update.evidence_status:
        case "EVIDENCE_FOUND" if update.count is not None:
            outcome = ngettext("%(count)d result", "%(count)d results", update.count) % {"count": update.count}
        case "EVIDENCE_FOUND":
            outcome = _("evidence found")
        case "NO_EVIDENCE":
            outcome = _("nothing found")
        case _:
            outcome = _error(update.error_code)
    message = _("%(tool)s: %(outcome)s") % {"tool": _tool(update), "outcome": outcome}
    if update.duration_ms is not None:
        message = _("%(message)s, %(duration)d ms") % {"message": message, "duration": update.duration_ms}
    return FAILED_MARK + message if update.evidence_status == "ERROR" else message


def _error(code: str | None) -> str:
    match code:
        case "TIMEOUT":
            return _("timed out")
        case "UNAVAILABLE" | "STORE_UNAVAILABLE":
            return _("not available")
        case "BUDGET_EXHAUSTED":
            return _("no calls left")
        case "RESULT_TOO_LARGE":
            return _("the result is too large")
        case _:
            return _("the call was refused")


def _failure(code: FailureCode) -> str:
    match code:
        case FailureCode.ROUTING_UNAVAILABLE:
            return _("The question could not be understood now. Ask again in a moment.")
        case FailureCode.MODEL_UNAVAILABLE:
            return _("The model is not available now. Ask again in a moment.")
        case FailureCode.KNOWLEDGE_UNAVAILABLE:
            return _("The knowledge base is not available now. Ask again in a moment.")
        case FailureCode.BUDGET_EXHAUSTED:
            return _("The budget of this run was used up before a report was written. Ask a narrower question.")
        case FailureCode.DEADLINE_EXCEEDED:
            return _("The time of this run was over before a report was written. Ask a narrower question.")
        case FailureCode.STORE_UNAVAILABLE:
            return _("The service cannot keep records now, so nothing is published. Ask again in a moment.")
        case FailureCode.SHUTTING_DOWN:
            return _("The service is restarting. Ask again in a moment.")
        case FailureCode.CANCELLED:
            return _("The run was stopped.")
        case FailureCode.INTERNAL_ERROR:
            return _("Something went wrong inside the service.")
    assert_never(code)
