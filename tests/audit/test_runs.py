"""A run's beginning and its end in the database."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.errors import SessionBusyError, SessionNotFoundError
from audit.ids import new_id
from audit.models import ChatSession, DiagnosisRun, DiagnosisTraceEvent, RunStatus
from audit.recorder import RunRecorder
from audit.runs import FinalState, OpenedRun, close_lost_runs, finish_run, open_run
from harness.recorder import RunFinished, RunStarted
from tests.audit.factories import REPORT, RunFactory, SessionFactory, StepFactory, TraceEventFactory, UserFactory
from tests.audit.records import step_record, tool_record

pytestmark = pytest.mark.django_db


def opened(user: User, session_id: UUID | None = None, query: str = "订单支付超时，帮我排查") -> OpenedRun:
    return open_run(
        user=user, session_id=session_id, run_id=new_id(), query=query, model="openai/test",
        language="zh-hans", instance="host-1", run_seconds=180,
    )  # fmt: skip


def final(status: RunStatus = RunStatus.SUCCEEDED, **values: Any) -> FinalState:
    fields: dict[str, Any] = {
        "status": status,
        "intent": "DIAGNOSIS",
        "model_calls": 3,
        "tool_calls": 2,
        "input_tokens": 100,
        "output_tokens": 20,
        "cost_usd": 0.0012345,
    }
    if status is RunStatus.SUCCEEDED:
        fields["released_content"] = REPORT
    return FinalState(**(fields | values))


def test_a_first_question_makes_a_session_with_its_title() -> None:
    user = UserFactory.create()
    run = opened(user, query="  " + "很长的问题 " * 40)
    session = ChatSession.objects.get(pk=run.session_id)
    assert (session.user, len(session.title), session.title[:5]) == (user, 80, "很长的问题")
    stored = DiagnosisRun.objects.get(pk=run.run_id)
    assert (stored.status, stored.session) == (RunStatus.RUNNING, session)
    assert stored.deadline_at - stored.started_at == timedelta(seconds=180)
    assert (run.last_intent, run.last_user_query, run.previous_turn) == (None, None, None)


def test_a_session_of_somebody_else_a_hidden_one_and_none_are_the_same() -> None:
    user = UserFactory.create()
    hidden = SessionFactory.create(user=user, hidden_at=timezone.now())
    for session_id in (SessionFactory.create().pk, hidden.pk, uuid4()):
        with pytest.raises(SessionNotFoundError):
            opened(user, session_id)
    assert not DiagnosisRun.objects.exists()


def test_a_session_with_a_running_run_is_busy() -> None:
    running = RunFactory.create(running=True)
    with pytest.raises(SessionBusyError):
        opened(running.session.user, running.session_id)
    assert DiagnosisRun.objects.count() == 1


def test_the_next_question_knows_the_last_one() -> None:
    user = UserFactory.create()
    first = opened(user)
    assert finish_run(RunRecorder(first.run_id, first.session_id), final())
    second = opened(user, first.session_id)
    assert (second.last_intent, second.last_user_query) == ("DIAGNOSIS", "订单支付超时，帮我排查")


def test_a_run_that_was_never_routed_leaves_the_last_turn_alone() -> None:
    user = UserFactory.create()
    first = opened(user)
    finish_run(RunRecorder(first.run_id, first.session_id), final())
    second = opened(user, first.session_id, query="另一个问题")
    lost = final(RunStatus.FAILED, intent=None, failure_code="ROUTING_UNAVAILABLE")
    finish_run(RunRecorder(second.run_id, second.session_id), lost)
    third = opened(user, first.session_id)
    assert (third.last_intent, third.last_user_query) == ("DIAGNOSIS", "订单支付超时，帮我排查")


def test_the_previous_turn_is_the_latest_released_diagnosis_of_the_session() -> None:
    session = SessionFactory.create()
    start = timezone.now() - timedelta(hours=1)
    RunFactory.create(session=session, started_at=start, published_result={"user_query": "older"})
    RunFactory.create(session=session, started_at=start + timedelta(minutes=1), published_result={"user_query": "it"})
    RunFactory.create(session=session, started_at=start + timedelta(minutes=2), fallback=True)
    RunFactory.create(session=session, started_at=start + timedelta(minutes=3), cancelled=True)
    RunFactory.create(session=session, started_at=start + timedelta(minutes=4), failed=True)
    RunFactory.create(session=session, started_at=start + timedelta(minutes=5), intent="KNOWLEDGE_QUERY")
    RunFactory.create(session=session, started_at=start + timedelta(minutes=6), published_result=None)
    RunFactory.create(started_at=start + timedelta(minutes=7), published_result={"user_query": "another session"})
    assert opened(session.user, session.pk).previous_turn == {"user_query": "it"}


def test_finishing_stores_state_content_totals_and_waiting_entries() -> None:
    run = opened(UserFactory.create())
    recorder = RunRecorder(run.run_id, run.session_id)
    recorder.event(RunStarted(model="openai/test", language="zh-hans", run_seconds=180))
    recorder.step(step_record())
    recorder.tool(tool_record())
    published = {"user_query": "q", "published_conclusion": "c", "scope": "", "limitations": [], "source_documents": []}
    assert finish_run(recorder, final(published_result=published))
    stored = DiagnosisRun.objects.get(pk=run.run_id)
    assert (stored.status, stored.release_outcome, stored.intent) == ("SUCCEEDED", "SUCCESS", "DIAGNOSIS")
    assert (stored.released_content, stored.published_result) == (REPORT, published)
    assert (stored.total_tokens, str(stored.cost_usd)) == (120, "0.001234")
    assert stored.finished_at is not None
    assert stored.duration_ms is not None
    assert (stored.steps.count(), stored.tool_invocations.count(), stored.timeline.count()) == (1, 1, 1)


def test_text_that_postgresql_cannot_hold_does_not_stop_a_run() -> None:
    run = opened(UserFactory.create(), query="a\ud800b")
    content = {"content_type": "SYSTEM_ANSWER", "payload": {"answer": "x\0y\ud800"}}
    recorder = RunRecorder(run.run_id, run.session_id)
    assert finish_run(recorder, final(released_content=content, published_result={"user_query": "a\0\ud800"}))
    stored = DiagnosisRun.objects.get(pk=run.run_id)
    assert (stored.user_query, stored.published_result) == ("a?b", {"user_query": "a\ufffd?"})
    assert stored.released_content == content


def test_a_run_ends_once() -> None:
    run = opened(UserFactory.create())
    recorder = RunRecorder(run.run_id, run.session_id)
    assert finish_run(recorder, final())
    recorder.event(RunFinished(
        status="CANCELLED", duration_ms=1, model_calls=0, tool_calls=0, total_tokens=0, budget_allowed={}
    ))  # fmt: skip
    assert not finish_run(recorder, final(RunStatus.CANCELLED))
    stored = DiagnosisRun.objects.get(pk=run.run_id)
    assert (stored.status, stored.released_content) == (RunStatus.SUCCEEDED, REPORT)
    assert not stored.timeline.exists()


def test_opening_takes_one_transaction_and_few_statements() -> None:
    session = SessionFactory.create()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        opened(session.user, session.pk)
    assert len([q for q in queries if not q["sql"].startswith(("SAVEPOINT", "RELEASE"))]) == 4


def test_a_run_whose_process_died_is_closed_once_deadline_and_grace_have_passed() -> None:
    run = RunFactory.create(running=True)
    TraceEventFactory.create(run=run, seq=1)
    StepFactory.create(run=run, step_index=1, input_tokens=70, output_tokens=7)
    young = RunFactory.create(running=True, started_at=run.started_at + timedelta(minutes=10))
    assert close_lost_runs(run.deadline_at + timedelta(seconds=119)) == 0
    assert close_lost_runs(run.deadline_at + timedelta(seconds=121)) == 1
    stored = DiagnosisRun.objects.get(pk=run.pk)
    assert (stored.status, stored.release_outcome, stored.failure_code) == ("FAILED", "FAILED", "PROCESS_LOST")
    assert (stored.total_tokens, stored.model_calls) == (77, 1)
    last = DiagnosisTraceEvent.objects.filter(run=run).latest("seq")
    assert (last.seq, last.event_type, last.details["failure_code"]) == (2, "RUN_FINISHED", "PROCESS_LOST")
    assert DiagnosisRun.objects.get(pk=young.pk).status == RunStatus.RUNNING
    assert not finish_run(RunRecorder(run.pk, run.session_id), final())
