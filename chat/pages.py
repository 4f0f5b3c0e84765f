"""The server-rendered page: a question box, the user's sessions, and the runs of one of them. Source: 01-chat."""

from typing import Any, TypedDict, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audit.models import ChatSession, DiagnosisRun
from chat.serializers import feedback_of

SHOWN_SESSIONS = 50
SHOWN_RUNS = 50
RUN_ID_PLACEHOLDER = UUID(int=0)


class ShownRun(TypedDict):
    """A run as the template gets it; `content` is exactly what was released, or None."""

    run_id: UUID
    user_query: str
    status: str
    content: dict[str, Any] | None
    failure_code: str | None
    started_at: Any
    feedback: str | None


@require_safe
@never_cache
@login_required
def index(request: HttpRequest, session_id: UUID | None = None) -> HttpResponse:
    """The page, for a new session or with an own one's runs. 404 for any other session."""
    user = cast(User, request.user)
    runs: list[ShownRun] = []
    if session_id is not None:
        session = ChatSession.objects.of(user).filter(pk=session_id).first()
        if session is None:
            raise Http404
        runs = _runs(session)
    context = {
        "sessions": ChatSession.objects.of(user).order_by("-last_active_at", "-session_id")[:SHOWN_SESSIONS],
        "session_id": session_id,
        "runs": runs,
        "demo_model": settings.SUPERBIZ.model.name.startswith("demo/"),
        "endpoints": {
            "chat": reverse("chat"),
            "cancel": reverse("run-cancel", args=[RUN_ID_PLACEHOLDER]),
            "feedback": reverse("feedback"),
            "sessions": reverse("session-list"),
        },
    }
    return render(request, "chat/index.html", context)


def _runs(session: ChatSession) -> list[ShownRun]:
    """The latest runs, in the order of asking."""
    latest = DiagnosisRun.objects.filter(session=session).select_related("feedback").order_by("-started_at", "-run_id")
    return [
        ShownRun(
            run_id=run.run_id,
            user_query=run.user_query,
            status=run.status,
            content=run.released_content,
            failure_code=run.failure_code,
            started_at=run.started_at,
            feedback=feedback_of(run),
        )
        for run in reversed(latest[:SHOWN_RUNS])
    ]
