"""The chat's other endpoints: sessions, their runs, cancelling, feedback. Source: 01-chat."""

from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, generics, status
from rest_framework.pagination import CursorPagination
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.models import ChatSession, DiagnosisRun, RunStatus
from chat.cancel import CancelOutcome
from chat.models import Feedback
from chat.runtime import get_runtime
from chat.serializers import (
    CancelledRunSerializer,
    ErrorBody,
    FeedbackSerializer,
    RunSerializer,
    SessionSerializer,
)
from harness.errors import StoreUnavailableError


class SessionNotFound(exceptions.NotFound):
    default_code = "SESSION_NOT_FOUND"
    default_detail = _("There is no such session.")


class RunNotFound(exceptions.NotFound):
    default_code = "RUN_NOT_FOUND"
    default_detail = _("There is no such run.")


class RunEnded(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "RUN_ENDED"
    default_detail = _("The run has already ended.")


class Unreachable(exceptions.APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "BUSY"
    default_detail = _("The service is busy. Try again in a moment.")


class SessionPages(CursorPagination):
    """Newest first: by last activity, then by the id, which sorts by time too."""

    page_size = 30
    ordering = ("-last_active_at", "-session_id")


class RunPages(CursorPagination):
    """In the order of asking."""

    page_size = 50
    ordering = ("started_at", "run_id")


def own_session(user: User, session_id: UUID) -> ChatSession:
    """Raises `SessionNotFound`, alike for a session that is hidden, another user's, or not there."""
    session = ChatSession.objects.of(user).filter(pk=session_id).first()
    if session is None:
        raise SessionNotFound
    return session


class SessionList(generics.ListAPIView[ChatSession]):
    """Own sessions, newest first."""

    serializer_class = SessionSerializer
    pagination_class = SessionPages

    def get_queryset(self) -> QuerySet[ChatSession]:
        return ChatSession.objects.of(_user(self.request))


class SessionDetail(APIView):
    @extend_schema(request=None, responses={204: None, 404: ErrorBody})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Hide the session from its user. The audit keeps it until retention."""
        own_session(_user(request), session_id)
        ChatSession.objects.of(_user(request)).filter(pk=session_id).update(hidden_at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionRuns(generics.ListAPIView[DiagnosisRun]):
    """The runs of an own session: question, state, and what was released."""

    serializer_class = RunSerializer
    pagination_class = RunPages

    def get_queryset(self) -> QuerySet[DiagnosisRun]:
        session = own_session(_user(self.request), self.kwargs["session_id"])
        return DiagnosisRun.objects.filter(session=session).select_related("feedback")


class CancelRun(APIView):
    @extend_schema(
        request=None,
        responses={202: CancelledRunSerializer, 404: ErrorBody, 409: ErrorBody, 503: ErrorBody},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Stop a run, in whichever process it is. For its owner and holders of `audit.cancel_diagnosisrun`."""
        runs = DiagnosisRun.objects.filter(pk=run_id)
        user = _user(request)
        if not user.has_perm("audit.cancel_diagnosisrun"):
            runs = runs.filter(session__user=user)
        run = runs.only("status").first()
        if run is None:
            raise RunNotFound
        if run.status != RunStatus.RUNNING:
            raise RunEnded
        outcome = _cancel(run_id)
        if outcome is CancelOutcome.ENDED:
            raise RunEnded
        if outcome is CancelOutcome.NOT_HELD and not runs.filter(status=RunStatus.RUNNING).exists():
            raise RunEnded  # it ended while we asked; one that is RUNNING but held by nobody is for the reaper
        return Response({"run_id": run_id}, status=status.HTTP_202_ACCEPTED)


class FeedbackView(APIView):
    parser_classes = (JSONParser,)

    @extend_schema(request=FeedbackSerializer, responses={200: FeedbackSerializer, 400: ErrorBody, 404: ErrorBody})
    def post(self, request: Request) -> Response:
        """Rate an own run. One opinion a run: a later one replaces it."""
        serializer = FeedbackSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values: dict[str, Any] = serializer.validated_data
        run = DiagnosisRun.objects.filter(pk=values["run_id"], session__user=_user(request)).first()
        if run is None:
            raise RunNotFound
        opinion = {"rating": values["rating"], "comment": values["comment"]}
        Feedback.objects.update_or_create(run=run, defaults=opinion)
        return Response({"run_id": run.pk, **opinion})


def _user(request: Request) -> User:
    user = request.user
    assert isinstance(user, User)  # every endpoint here requires authentication
    return user


@async_to_sync
async def _cancel(run_id: UUID) -> CancelOutcome:
    try:
        return await get_runtime().cancels.cancel(run_id)
    except StoreUnavailableError as error:
        raise Unreachable from error
