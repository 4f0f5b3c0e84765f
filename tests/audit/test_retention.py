"""What goes after how many days, in which order, and what stays."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.utils import timezone

from audit import retention
from audit.models import (
    AgentReasoningAudit,
    AgentStep,
    ChatSession,
    DiagnosisRun,
    DiagnosisTraceEvent,
    ReasoningAccess,
    ToolInvocation,
)
from audit.retention import count_due, purge
from tests.audit.factories import RunFactory, SessionFactory, TraceEventFactory, full_run

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def run_of(days: float) -> DiagnosisRun:
    """A full run of a session of its own, that many days ago."""
    at = NOW - timedelta(days=days)
    return full_run(session=SessionFactory.create(last_active_at=at), started_at=at)


def counts() -> dict[str, int]:
    return {
        "agent_reasoning_audit": AgentReasoningAudit.objects.count(),
        "agent_step": AgentStep.objects.count(),
        "tool_invocation": ToolInvocation.objects.count(),
        "diagnosis_trace_event": DiagnosisTraceEvent.objects.count(),
        "diagnosis_run": DiagnosisRun.objects.count(),
        "chat_session": ChatSession.objects.count(),
    }


@pytest.mark.parametrize(
    ("days", "left"),
    [
        (29, [4, 4, 2, 7, 1, 1]),
        (31, [0, 4, 2, 7, 1, 1]),
        (179, [0, 4, 2, 7, 1, 1]),
        (181, [0, 0, 0, 0, 1, 1]),
        (364, [0, 0, 0, 0, 1, 1]),
        (366, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_reasoning_goes_first_then_the_trace_then_the_run(days: float, left: list[int]) -> None:
    run_of(days)
    before = counts()
    would_go = count_due(NOW)
    assert counts() == before
    deleted = purge(NOW)
    assert list(counts().values()) == left
    assert deleted == would_go
    assert {table: before[table] - deleted[table] for table in before} == counts()


def test_a_session_stays_as_long_as_one_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    old = run_of(400)
    RunFactory.create(session=old.session, started_at=NOW - timedelta(days=3))
    assert count_due(NOW)["chat_session"] == 0
    purge(NOW)
    assert (ChatSession.objects.count(), DiagnosisRun.objects.count()) == (1, 1)


def test_a_running_run_is_never_purged() -> None:
    RunFactory.create(running=True, started_at=NOW - timedelta(days=400))
    assert purge(NOW)["diagnosis_run"] == 0


def test_batches_are_small_and_leave_nothing_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_ROWS", 3)
    run_of(366)
    run_of(367)
    assert purge(NOW)["diagnosis_trace_event"] == 14
    assert sum(counts().values()) == 0


def test_the_access_log_lives_as_long_as_the_runs() -> None:
    for days in (364, 366):
        ReasoningAccess.objects.create(
            at=NOW - timedelta(days=days), granted=False, http_status=403, via=ReasoningAccess.Via.API
        )
    assert purge(NOW)["reasoning_access"] == 1


@pytest.mark.django_db(transaction=True)
def test_the_timeline_is_closed_again_after_the_purge() -> None:
    run_of(366)
    purge(NOW)
    event = TraceEventFactory.create()
    with pytest.raises(IntegrityError, match="append-only"):
        DiagnosisTraceEvent.objects.filter(pk=event.pk).delete()


def test_the_command_counts_without_deleting_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    run_of(366)
    call_command("purge", "--dry-run")
    dry = json.loads(capsys.readouterr().out)
    assert (dry["dry_run"], dry["rows"]["diagnosis_run"]) == (True, 1)
    assert DiagnosisRun.objects.count() == 1
    call_command("purge")
    assert json.loads(capsys.readouterr().out) == {"dry_run": False, "rows": dry["rows"]}
    assert DiagnosisRun.objects.count() == 0
