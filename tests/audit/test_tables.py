"""What PostgreSQL itself holds: constraints and the append-only timeline."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.models import ChatSession, DiagnosisRun, DiagnosisTraceEvent
from tests.audit.factories import (
    REPORT,
    ReasoningFactory,
    RunFactory,
    SessionFactory,
    StepFactory,
    ToolInvocationFactory,
    TraceEventFactory,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"running": True, "finished_at": timezone.now()}, "run_finished_iff_final"),
        ({"finished_at": None}, "run_finished_iff_final"),
        ({"duration_ms": None}, "run_finished_iff_final"),
        ({"release_outcome": "FALLBACK"}, "run_outcome_matches_status"),
        ({"release_outcome": None}, "run_outcome_matches_status"),
        ({"cancelled": True, "release_outcome": "FAILED"}, "run_outcome_matches_status"),
        ({"released_content": None}, "run_content_iff_released"),
        ({"failed": True, "released_content": REPORT}, "run_content_iff_released"),
    ],
)
def test_a_run_that_contradicts_itself_is_refused(values: dict[str, Any], constraint: str) -> None:
    session = SessionFactory.create()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        RunFactory.create(session=session, **values)


@pytest.mark.parametrize("end", ["running", "cancelled", "failed", "fallback"])
def test_each_end_of_a_run_can_be_stored(end: str) -> None:
    assert DiagnosisRun.objects.filter(pk=RunFactory.create(**{end: True}).pk).exists()


def test_a_session_has_one_running_run_at_most() -> None:
    run = RunFactory.create(running=True)
    RunFactory.create(session=run.session)
    with pytest.raises(IntegrityError, match="one_running_run_a_session"), transaction.atomic():
        RunFactory.create(session=run.session, running=True)


def test_a_tool_call_id_occurs_once_in_a_run() -> None:
    call = ToolInvocationFactory.create()
    ToolInvocationFactory.create(tool_call_id=call.tool_call_id)
    with pytest.raises(IntegrityError, match="one_row_a_tool_call"), transaction.atomic():
        ToolInvocationFactory.create(run=call.run, tool_call_id=call.tool_call_id)


def test_a_number_occurs_once_in_a_timeline() -> None:
    event = TraceEventFactory.create()
    with pytest.raises(IntegrityError, match="one_event_a_seq"), transaction.atomic():
        TraceEventFactory.create(run=event.run)


def test_a_thought_is_refused() -> None:
    run = RunFactory.create()
    with pytest.raises(IntegrityError, match="step_thought_is_empty"), transaction.atomic():
        StepFactory.create(run=run, thought="first I look at the logs")


@pytest.mark.parametrize(
    "values",
    [
        {"reasoning_available": False, "content_bytes": 5},
        {"reasoning_available": False, "reasoning_content": "gAAAA"},
        {"reasoning_available": True},
        {"reasoning_available": True, "reasoning_content": "gAAAA", "no_content_reason": "NO_KEY"},
    ],
)
def test_reasoning_that_contradicts_itself_is_refused(values: dict[str, Any]) -> None:
    step = StepFactory.create()
    with pytest.raises(IntegrityError, match="reasoning_content_iff_available"), transaction.atomic():
        ReasoningFactory.create(step=step, **values)


def test_the_timeline_cannot_be_changed() -> None:
    event = TraceEventFactory.create()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        DiagnosisTraceEvent.objects.filter(pk=event.pk).update(event_type="RUN_FINISHED")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        DiagnosisTraceEvent.objects.filter(pk=event.pk).delete()


def test_the_purge_may_delete_from_the_timeline_but_not_change_it() -> None:
    event = TraceEventFactory.create()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('superbiz.purge', 'on', true)")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        DiagnosisTraceEvent.objects.filter(pk=event.pk).update(event_type="RUN_FINISHED")
    assert DiagnosisTraceEvent.objects.filter(pk=event.pk).delete()[0] == 1


def test_released_content_comes_back_with_its_keys_in_order() -> None:
    content = {"content_type": "DIAGNOSIS_REPORT", "payload": {"conclusion": None, "analysis": [], "action_plan": []}}
    run = RunFactory.create(released_content=content)
    stored = DiagnosisRun.objects.get(pk=run.pk).released_content
    assert list(stored["payload"]) == ["conclusion", "analysis", "action_plan"]


def test_keys_are_uuids_that_sort_by_time() -> None:
    first, second = SessionFactory.create(), SessionFactory.create()
    assert first.pk.version == second.pk.version == 7
    assert list(ChatSession.objects.order_by("pk")) == [first, second]
