"""The audit's endpoints: trace, reasoning, runs, export. Source: 05-audit, "APIs"."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, generics
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.views import APIView

from audit.access import log_reasoning_access
from audit.database import on_database_thread
from audit.models import AgentReasoningAudit, ChatSession, DiagnosisRun, ReasoningAccess
from audit.models.reasoning import VIEW_REASONING
from audit.models.runs import VIEW_RUNS, DiagnosisRunQuerySet
from audit.serializers import (
    AuditRunSerializer,
    ReasoningSerializer,
    RequiredRunIdSerializer,
    RunFilterSerializer,
    RunIdSerializer,
    TraceSerializer,
)
from audit.vault import VaultError, get_vault

EXPORT_BATCH = 500

_SESSION_ID = OpenApiParameter("session_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class IsAuditor(BasePermission):
    """Holders of `audit.view_diagnosisrun`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.user.has_perm(VIEW_RUNS)


class ReasoningUnreadable(exceptions.APIException):
    """The key that a content was encrypted with is no longer configured."""

    default_code = "REASONING_UNREADABLE"
    default_detail = _("It cannot be decrypted with the configured keys.")


class TraceView(APIView):
    """What happened in a run. For the session's owner and for auditors; 404 for everybody else."""

    @extend_schema(parameters=[_SESSION_ID, RunIdSerializer], responses=TraceSerializer)
    def get(self, request: Request, session_id: str) -> Response:
        """The run that `runId` names, or the session's latest."""
        user = request.user
        auditor = user.has_perm(VIEW_RUNS)
        session = _session(user, session_id, auditor=auditor)
        asked = RunIdSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        run = _run(session, asked.validated_data.get("runId"))
        trace = {
            "session_id": session.pk,
            "run": run,
            "steps": run.steps.order_by("step_index"),
            "tool_invocations": run.tool_invocations.order_by("started_at", "id"),
            "timeline": run.timeline.order_by("seq"),
        }
        return Response(TraceSerializer(trace, context={"auditor": auditor}).data)


class ReasoningView(APIView):
    """What the provider returned as reasoning. Holders of `audit.view_agentreasoningaudit` only, all logged."""

    permission_classes = (IsAuthenticated,)
    http_method_names = ("get",)

    @extend_schema(parameters=[_SESSION_ID, RequiredRunIdSerializer], responses=ReasoningSerializer)
    def get(self, request: Request, session_id: str) -> Response:
        """The reasoning of each model call of a run."""
        if not request.user.has_perm(VIEW_REASONING):
            raise exceptions.PermissionDenied
        asked = RequiredRunIdSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        session = _session(request.user, session_id, auditor=True)
        run = _run(session, asked.validated_data["runId"])
        items = list(AgentReasoningAudit.objects.filter(run=run).select_related("step").order_by("step__step_index"))
        vault = get_vault()
        try:
            for item in items:
                if item.reasoning_content is not None:
                    item.reasoning_content = vault.open(item.reasoning_content)
        except VaultError as error:
            raise ReasoningUnreadable from error
        found = ReasoningSerializer({"session_id": session.pk, "run_id": run.pk, "items": items})
        return Response(found.data)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Log the attempt, whatever came of it, before the answer leaves."""
        finalized = super().finalize_response(request, response, *args, **kwargs)
        log_reasoning_access(
            request._request,
            request.user,
            ReasoningAccess.Via.API,
            http_status=finalized.status_code,
            session_id=_uuid(kwargs["session_id"]),
            run_id=_uuid(request.query_params.get("runId", "")),
        )
        return finalized


class RunPages(CursorPagination):
    """Newest first; each page is found by an index, however far back."""

    page_size = 50
    ordering = ("-started_at", "-run_id")


class RunList(generics.ListAPIView[DiagnosisRun]):
    """All runs, newest first, for auditors."""

    permission_classes = (IsAuthenticated, IsAuditor)
    serializer_class = AuditRunSerializer
    pagination_class = RunPages

    @extend_schema(parameters=[RunFilterSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Runs that fit all the given conditions."""
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> DiagnosisRunQuerySet:
        return _filtered(self.request)


class RunExport(APIView):
    """The same as NDJSON, one run a line, streamed from the database in batches."""

    permission_classes = (IsAuthenticated, IsAuditor)

    @extend_schema(parameters=[RunFilterSerializer], responses={(200, "application/x-ndjson"): OpenApiTypes.STR})
    def get(self, request: Request) -> StreamingHttpResponse:
        """Runs that fit all the given conditions and had started when the export began."""
        runs = _filtered(request).filter(started_at__lte=timezone.now())
        return StreamingHttpResponse(
            _lines(runs),
            content_type="application/x-ndjson",
            headers={"Content-Disposition": 'attachment; filename="runs.ndjson"', "X-Accel-Buffering": "no"},
        )


async def _lines(runs: DiagnosisRunQuerySet) -> AsyncIterator[bytes]:
    """Each batch takes a connection for as long as its query runs, not for as long as the reader reads."""
    rest = runs
    while True:
        batch = await on_database_thread(_batch, rest)
        if not batch:
            return
        rows: list[Mapping[str, Any]] = list(AuditRunSerializer(batch, many=True).data)
        yield b"".join(json.dumps(row, ensure_ascii=False, cls=JSONEncoder).encode() + b"\n" for row in rows)
        rest = runs.after(batch[-1].started_at, batch[-1].run_id)


def _batch(runs: DiagnosisRunQuerySet) -> list[DiagnosisRun]:
    return list(runs.newest_first()[:EXPORT_BATCH])


def _filtered(request: Request) -> DiagnosisRunQuerySet:
    asked = RunFilterSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    values: dict[str, Any] = asked.validated_data
    runs = DiagnosisRun.objects.select_related("session__user")
    for name, lookup in (
        ("status", "status"),
        ("intent", "intent"),
        ("user", "session__user__username"),
        ("since", "started_at__gte"),
        ("until", "started_at__lt"),
    ):
        if name in values:
            runs = runs.filter(**{lookup: values[name]})
    return runs.matching(values["q"]) if "q" in values else runs


def _session(user: User | AnonymousUser, session_id: str, *, auditor: bool) -> ChatSession:
    """The session, if `user` may know that it exists. Raises `NotFound`."""
    key = _uuid(session_id)
    sessions = ChatSession.objects.all() if auditor else ChatSession.objects.of(user)
    session = None if key is None else sessions.filter(pk=key).first()
    if session is None:
        raise exceptions.NotFound
    return session


def _run(session: ChatSession, run_id: UUID | None) -> DiagnosisRun:
    """The named or the latest run of the session. Raises `NotFound`."""
    runs = DiagnosisRun.objects.filter(session=session).select_related("session__user")
    if run_id is not None:
        runs = runs.filter(pk=run_id)
    run = runs.newest_first().first()
    if run is None:
        raise exceptions.NotFound
    return run


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
