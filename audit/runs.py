"""A run's beginning and its end. These functions block: call them by `audit.database.on_database_thread`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max, Sum
from django.utils import timezone

from audit import feed, metrics, telemetry
from audit.bounds import short, storable
from audit.errors import SessionBusyError, SessionNotFoundError
from audit.models import AgentStep, ChatSession, DiagnosisRun, DiagnosisTraceEvent, ReleaseOutcome, RunStatus
from audit.models.runs import ONE_RUNNING_RUN, OUTCOME_OF, QUERY_LENGTH, Intent
from audit.models.sessions import LAST_QUERY_LENGTH, TITLE_LENGTH
from audit.recorder import RunRecorder, database_or_unavailable
from audit.records import Details

GRACE = timedelta(seconds=120)  # draining and the last commit may go beyond the deadline
PROCESS_LOST = "PROCESS_LOST"
LOST_A_PASS = 500


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """What chat needs to carry a run. `previous_turn`: the five PreviousTurn fields, or None."""

    session_id: UUID
    run_id: UUID
    started_at: datetime
    deadline_at: datetime
    last_intent: str | None
    last_user_query: str | None
    previous_turn: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class FinalState:
    """How a run ended and what it used. `released_content` is exactly the `content` event's data."""

    status: RunStatus
    intent: str | None
    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    budget_exhausted_reason: str | None = None
    fallback_type: str | None = None
    fallback_reason: str | None = None
    failure_code: str | None = None
    released_content: dict[str, Any] | None = None
    published_result: dict[str, Any] | None = None


def open_run(
    *,
    user: User,
    session_id: UUID | None,
    run_id: UUID,
    query: str,
    model: str,
    language: str,
    instance: str,
    run_seconds: float,
) -> OpenedRun:
    """Store a run, and its session if `session_id` is None, in one transaction.

    `run_id` is a new UUIDv7, `query` at most 4,000 characters. Raises `SessionNotFoundError`, `SessionBusyError`,
    `AuditUnavailableError`; then nothing was stored.
    """
    now = timezone.now()
    deadline_at = now + timedelta(seconds=run_seconds)
    try:
        with database_or_unavailable(), transaction.atomic():
            session = _session_for(user, session_id, query, now)
            previous = None if session_id is None else _previous_turn(session)
            DiagnosisRun.objects.create(
                run_id=run_id,
                session=session,
                user_query=short(query, QUERY_LENGTH),
                model=short(model, 200),
                language=short(language, 20),
                instance=short(instance, 200),
                started_at=now,
                deadline_at=deadline_at,
            )
    except IntegrityError as error:
        if _broken_constraint(error) == ONE_RUNNING_RUN:
            raise SessionBusyError from error
        raise
    message = feed.run_message(session.session_id, run_id, RunStatus.RUNNING, now, user_id=user.pk)
    feed.publish([message])
    return OpenedRun(
        session_id=session.session_id,
        run_id=run_id,
        started_at=now,
        deadline_at=deadline_at,
        last_intent=session.last_intent or None,
        last_user_query=session.last_user_query or None,
        previous_turn=previous,
    )


def finish_run(recorder: RunRecorder, final: FinalState, last: Sequence[Details] = ()) -> bool:
    """Store the final state, what was released, all entries that still wait, and the `last` ones, in one transaction.

    True if this call ended the run; False if it had ended before (by the reaper, or a second finish): then
    nothing changes and nothing may be released. Raises `AuditUnavailableError`; then nothing was stored, and the
    call may be repeated with another final state and other `last` events.
    """
    now = timezone.now()
    ended: list[DiagnosisRun] = []

    def change() -> bool:
        run = DiagnosisRun.objects.select_for_update().filter(pk=recorder.run_id, status=RunStatus.RUNNING).first()
        if run is None:
            return False
        _end(run, final, now)
        session = ChatSession.objects.filter(pk=run.session_id)
        if final.intent is None:
            session.update(last_active_at=now)
        else:  # the router's view of the last turn: both or none
            session.update(
                last_active_at=now, last_intent=final.intent, last_user_query=run.user_query[:LAST_QUERY_LENGTH]
            )
        ended.append(run)
        return True

    if not recorder.write_with(change, last):
        return False
    metrics.observe_run(ended[0])
    if telemetry.is_on():
        telemetry.export_run(ended[0], recorder.steps_for_spans, recorder.calls_for_spans)
    recorder.publish_final(_state_message(ended[0]))
    return True


def close_lost_runs(now: datetime) -> int:
    """End runs whose process is gone: FAILED/PROCESS_LOST once deadline and grace have passed. Returns how many.

    Each in a transaction of its own, at most 500 a pass. Source: 02-harness, "Shutdown".
    """
    overdue = DiagnosisRun.objects.overdue(now - GRACE).order_by("deadline_at").values_list("pk", flat=True)
    return sum(_close_lost(run_id, now) for run_id in list(overdue[:LOST_A_PASS]))


def _session_for(user: User, session_id: UUID | None, query: str, now: datetime) -> ChatSession:
    if session_id is None:
        title = short(" ".join(query.split()), TITLE_LENGTH)
        return ChatSession.objects.create(user=user, title=title, created_at=now, last_active_at=now)
    session = ChatSession.objects.select_for_update().filter(pk=session_id, user=user, hidden_at=None).first()
    if session is None:
        raise SessionNotFoundError
    session.last_active_at = now
    session.save(update_fields=["last_active_at"])
    return session


def _previous_turn(session: ChatSession) -> dict[str, Any] | None:
    run = (
        DiagnosisRun.objects.filter(
            session=session,
            intent=Intent.DIAGNOSIS,
            release_outcome=ReleaseOutcome.SUCCESS,
            published_result__isnull=False,
        )
        .newest_first()
        .only("published_result")
        .first()
    )
    return None if run is None else run.published_result


def _end(run: DiagnosisRun, final: FinalState, now: datetime) -> None:
    run.status = final.status
    run.release_outcome = OUTCOME_OF[final.status]
    run.intent = final.intent
    run.fallback_type = final.fallback_type
    run.fallback_reason = None if final.fallback_reason is None else short(final.fallback_reason, 200)
    run.failure_code = final.failure_code
    run.released_content = final.released_content
    run.published_result = storable(final.published_result)
    run.model_calls = final.model_calls
    run.tool_calls = final.tool_calls
    run.input_tokens = final.input_tokens
    run.output_tokens = final.output_tokens
    run.total_tokens = final.input_tokens + final.output_tokens
    run.cost_usd = Decimal(str(round(final.cost_usd, 6)))
    run.budget_exhausted_reason = final.budget_exhausted_reason
    run.finished_at = max(now, run.started_at)
    run.duration_ms = int((run.finished_at - run.started_at).total_seconds() * 1000)
    run.save()


def _close_lost(run_id: UUID, now: datetime) -> bool:
    with transaction.atomic():
        run = (
            DiagnosisRun.objects.select_for_update(skip_locked=True).filter(pk=run_id, status=RunStatus.RUNNING).first()
        )
        if run is None:  # it ended meanwhile, or another reaper has it
            return False
        used = AgentStep.objects.filter(run=run).aggregate(input=Sum("input_tokens"), output=Sum("output_tokens"))
        tool_calls = run.tool_invocations.count()
        model_calls = run.steps.filter(purpose__in=["diagnosis", "evidence_repair"]).count()
        final = FinalState(
            status=RunStatus.FAILED,
            intent=run.intent,
            model_calls=model_calls,
            tool_calls=tool_calls,
            input_tokens=used["input"] or 0,
            output_tokens=used["output"] or 0,
            cost_usd=0,  # unknown: the process that knew it is gone
            failure_code=PROCESS_LOST,
        )
        _end(run, final, now)
        last = run.timeline.aggregate(last=Max("seq"))["last"] or 0
        details = {
            "status": run.status,
            "failure_code": run.failure_code,
            "duration_ms": run.duration_ms,
            "model_calls": run.model_calls,
            "tool_calls": run.tool_calls,
            "total_tokens": run.total_tokens,
        }
        DiagnosisTraceEvent.objects.create(
            run=run, seq=last + 1, event_type="RUN_FINISHED", at=run.finished_at or now, details=details
        )
    feed.publish([_state_message(run)])
    return True


def _state_message(run: DiagnosisRun) -> feed.Message:
    return feed.run_message(
        run.session_id,
        run.run_id,
        run.status,
        run.finished_at or run.started_at,
        intent=run.intent,
        fallback_type=run.fallback_type,
        failure_code=run.failure_code,
        duration_ms=run.duration_ms,
        total_tokens=run.total_tokens,
        tool_calls=run.tool_calls,
    )


def _broken_constraint(error: IntegrityError) -> str | None:
    diagnostics = getattr(error.__cause__, "diag", None)
    return getattr(diagnostics, "constraint_name", None)
