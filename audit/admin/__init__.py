"""The audit in the admin: read-only for everybody, superusers too. Source: 05-audit, "Admin"."""

from audit.admin.runs import DiagnosisRunAdmin
from audit.admin.sessions import ChatSessionAdmin, ReasoningAccessAdmin

__all__ = ["ChatSessionAdmin", "DiagnosisRunAdmin", "ReasoningAccessAdmin"]
