"""The log of who read reasoning, or tried to. Source: 05-audit, "APIs"."""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest

from audit.models import ReasoningAccess


def log_reasoning_access(
    request: HttpRequest,
    user: User | AnonymousUser,
    via: ReasoningAccess.Via,
    *,
    http_status: int,
    session_id: UUID | None,
    run_id: UUID | None,
) -> None:
    """Store one attempt. It is called before anything is shown, so that no reading goes without its entry."""
    ReasoningAccess.objects.create(
        user=user if isinstance(user, User) else None,
        session_id=session_id,
        run_id=run_id,
        granted=http_status == 200,
        http_status=http_status,
        remote_address=request.META.get("REMOTE_ADDR") or None,
        via=via,
    )
