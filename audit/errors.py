"""What can go wrong in the audit, as a tree.

AuditError
├── AuditUnavailableError  PostgreSQL is away; nothing was written
├── SessionNotFoundError   no such session, it is hidden, or it belongs to somebody else
└── SessionBusyError       a run of this session is still going
"""


class AuditError(Exception):
    """Base of all errors that the audit raises on purpose."""


class AuditUnavailableError(AuditError):
    """PostgreSQL cannot be reached. A run must not begin, or must end without content."""


class SessionNotFoundError(AuditError):
    """One error for three cases, so that nobody learns which ids exist."""


class SessionBusyError(AuditError):
    """A session has one running run at most."""
