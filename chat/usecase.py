"""ChatApplicationUseCase: one question, from its acceptance to its one final state.

It owns session, run, routing, PreviousTurn and the final state. Two tasks carry a run. The work (routing and
executor) is what a cancellation ends. The life around it is never cancelled: it waits for the work, chooses the
final state, commits it, and only then ends the stream. Source: 01-chat, "Use case".
"""

import asyncio
import contextvars
import logging
import time
from enum import Enum, auto

from django.contrib.auth.models import User

from audit.database import on_database_thread
from audit.errors import AuditUnavailableError, SessionBusyError, SessionNotFoundError
from audit.ids import new_id
from audit.runs import OpenedRun, finish_run, open_run
from chat import refusals
from chat.ending import STOPPED, Ending, failed, failure_code, succeeded
from chat.limits import UserLimit
from chat.messages import status_message
from chat.question import Question
from chat.recording import HarnessRecorder
from chat.routing import route
from chat.runs import ProcessFullError, RunningRun, RunRegistry
from chat.stream import Event, RunStream
from diagnosis.execute import execute
from diagnosis.intents import Intent
from diagnosis.released import Released
from diagnosis.services import Services
from harness.budget import Budget
from harness.context import Deadline, RunContext
from harness.errors import BudgetReason, FailureCode, StopReason, StoreUnavailableError
from harness.progress import StatusUpdate
from harness.recorder import BudgetExhausted, Cancelled, RunFinished, RunStarted, TraceDetails

logger = logging.getLogger(__name__)

CLOSING_PAUSES = (0.0, 1.0, 3.0, 9.0)  # seconds; after these the reaper closes the run


class ChatApplicationUseCase:
    """Opens runs and carries each to its end; one per event loop."""

    def __init__(self, services: Services, registry: RunRegistry, limit: UserLimit, instance: str) -> None:
        self._services = services
        self._registry = registry
        self._limit = limit
        self._instance = instance
        self._budget = services.settings.budget
        self._opening: set[asyncio.Task[RunningRun]] = set()

    async def open(self, user: User, question: Question, language: str) -> RunningRun:
        """Accept a question and start its run. Raises `RefusedError` (404, 409, 429, 503).

        A caller that is cancelled meanwhile leaves no run behind: what was opened is stopped as CLIENT_GONE.
        """
        opening = asyncio.get_running_loop().create_task(self._open(user, question, language))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_abandon)
            raise

    async def _open(self, user: User, question: Question, language: str) -> RunningRun:
        try:
            self._registry.reserve()
        except ProcessFullError:
            raise refusals.busy() from None
        run_id = new_id()
        leased = started = False
        try:
            leased = await self._limit.take(user.pk, run_id)
            if not leased:
                raise refusals.too_many_runs()
            await self._services.tools.store.ping()
            deadline = Deadline.after(self._budget.run_seconds)
            opened = await on_database_thread(
                open_run,
                user=user,
                session_id=question.session_id,
                run_id=run_id,
                query=question.query,
                model=self._services.model.name,
                language=language,
                instance=self._instance,
                run_seconds=self._budget.run_seconds,
            )
            run = self._start(user, question.query, language, opened, deadline)
            started = True
        except (StoreUnavailableError, AuditUnavailableError) as error:
            raise refusals.store_unavailable() from error
        except SessionNotFoundError:
            raise refusals.session_not_found() from None
        except SessionBusyError:
            raise refusals.session_busy() from None
        finally:
            if not started:
                self._registry.free()
                if leased:
                    await self._limit.give_back(user.pk, run_id)
        return run

    def _start(self, user: User, query: str, language: str, opened: OpenedRun, deadline: Deadline) -> RunningRun:
        recorder = HarnessRecorder(opened.run_id, opened.session_id)
        recorder.event(
            RunStarted(model=self._services.model.name, language=language, run_seconds=self._budget.run_seconds),
            opened.started_at,
        )
        metadata = Event("metadata", {"session_id": str(opened.session_id), "run_id": str(opened.run_id)})
        run = RunningRun(
            ctx=RunContext(opened.session_id, opened.run_id, deadline, Budget(self._budget), recorder),
            recorder=recorder,
            user_id=user.pk,
            query=query,
            language=language,
            last_intent=opened.last_intent,
            last_user_query=opened.last_user_query,
            previous_turn=opened.previous_turn,
            stream=RunStream(metadata),
            started=time.monotonic(),
        )
        # A context of its own: the request's (language, thread-sensitive executor) ends before the run does.
        life = asyncio.get_running_loop().create_task(self._live(run), context=contextvars.Context())
        self._registry.add(run, life)
        return run

    async def _live(self, run: RunningRun) -> None:
        """The whole of a run: always ends the stream, the final state and the lease, whatever its work does."""
        loop = asyncio.get_running_loop()
        work = loop.create_task(self._work(run))
        run.ctx.cancellation.bind(work)
        timer = loop.call_later(run.ctx.deadline.remaining(), run.stop, StopReason.DEADLINE)
        try:
            await asyncio.wait([work])
            run.decided = True
            ending = await self._commit(run, _ending(run, work))
            run.stream.end(*ending.events(run.language))
        finally:
            timer.cancel()
            run.decided = True
            run.stream.end(*failed(FailureCode.INTERNAL_ERROR).events(run.language))  # if nothing else was said
            await self._limit.give_back(run.user_id, run.run_id)

    async def _work(self, run: RunningRun) -> Released:
        def progress(update: StatusUpdate) -> None:
            run.stream.status(update.code.value, status_message(update, run.language))

        ctx, services = run.ctx, self._services
        run.intent = await route(ctx, services, run.query, run.last_intent, run.last_user_query, progress)
        previous_turn = run.previous_turn if run.intent is Intent.DIAGNOSIS else None
        return await execute(ctx, services, run.intent, run.query, previous_turn, run.language, progress)

    async def _commit(self, run: RunningRun, ending: Ending) -> Ending:
        """Commit the final state. What is returned may be said to the user: content only if it is committed."""
        stored = await _store(run, ending)
        if stored is _Stored.YES:
            return ending
        closing = failed(FailureCode.STORE_UNAVAILABLE if stored is _Stored.AWAY else FailureCode.INTERNAL_ERROR)
        run.stream.end(*closing.events(run.language))  # the user need not wait for what follows
        if stored is _Stored.ENDED_BEFORE:
            return closing
        for pause in CLOSING_PAUSES:
            await asyncio.sleep(pause)
            if await _store(run, closing) in {_Stored.YES, _Stored.ENDED_BEFORE}:
                break
        return closing


class _Stored(Enum):
    """What became of a final state."""

    YES = auto()
    AWAY = auto()
    REFUSED = auto()
    ENDED_BEFORE = auto()


async def _store(run: RunningRun, ending: Ending) -> _Stored:
    last = _last_events(run, ending)
    state = ending.final_state(run.intent, run.ctx.budget)
    storing = asyncio.get_running_loop().create_task(on_database_thread(finish_run, run.recorder, state, last))
    await asyncio.wait([storing])
    error = storing.exception()
    if error is None:
        if not storing.result():
            logger.error("run %s had ended before its process ended it", run.run_id)
        return _Stored.YES if storing.result() else _Stored.ENDED_BEFORE
    logger.error("the final state of run %s could not be stored: %s", run.run_id, type(error).__name__)
    return _Stored.AWAY if isinstance(error, AuditUnavailableError) else _Stored.REFUSED


def _ending(run: RunningRun, work: asyncio.Task[Released]) -> Ending:
    """What the work's end means. A run that was stopped ends as stopped, even if its work came through."""
    reason = run.ctx.cancellation.reason
    if reason is not None:
        return failed(STOPPED[reason])
    error = None if work.cancelled() else work.exception()
    if error is None and not work.cancelled():
        return succeeded(work.result())
    code = None if error is None else failure_code(error)
    if code is None:
        logger.error("run %s failed: %s", run.run_id, type(error).__name__)
    return failed(code or FailureCode.INTERNAL_ERROR)


def _last_events(run: RunningRun, ending: Ending) -> list[TraceDetails]:
    """What the timeline says of the end. It becomes true with the final state, so it is stored together with it."""
    budget, settings = run.ctx.budget, run.ctx.budget.settings
    reason = run.ctx.cancellation.reason
    events: list[TraceDetails] = []
    if ending.failure is FailureCode.DEADLINE_EXCEEDED:
        budget.exhaust(BudgetReason.DEADLINE)
    if budget.exhausted is not None:
        events.append(BudgetExhausted(reason=budget.exhausted))
    if ending.failure is FailureCode.CANCELLED and reason is not None:
        events.append(Cancelled(reason=reason))
    finished = RunFinished(
        status=ending.status,
        failure_code=ending.recorded_code,
        duration_ms=int((time.monotonic() - run.started) * 1000),
        model_calls=budget.usage.model_calls,
        tool_calls=budget.usage.tool_calls,
        total_tokens=budget.usage.total_tokens,
        budget_allowed={
            "model_calls": settings.model_calls,
            "tool_calls": settings.tool_calls,
            "total_tokens": settings.total_tokens,
            "run_seconds": settings.run_seconds,
        },
    )
    return [*events, finished]


def _abandon(opening: asyncio.Task[RunningRun]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().reader_gone()
