"""The six tables of the audit, and the log of who read reasoning. Source: 05-audit, "Tables".

Rows are never changed once they are final; nothing here imports another app.
"""

from audit.models.entries import AgentStep, DiagnosisTraceEvent, StepOutcome, ToolInvocation
from audit.models.reasoning import AgentReasoningAudit, NoContentReason, ReasoningAccess
from audit.models.runs import DiagnosisRun, ReleaseOutcome, RunStatus
from audit.models.sessions import ChatSession

__all__ = [
    "AgentReasoningAudit",
    "AgentStep",
    "ChatSession",
    "DiagnosisRun",
    "DiagnosisTraceEvent",
    "NoContentReason",
    "ReasoningAccess",
    "ReleaseOutcome",
    "RunStatus",
    "StepOutcome",
    "ToolInvocation",
]
