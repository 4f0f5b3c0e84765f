"""The recorder: batches, numbers, bounds, reasoning, and a database that goes away."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from audit import recorder as recorder_module
from audit.bounds import bounded, json_bytes
from audit.database import on_database_thread
from audit.errors import AuditUnavailableError
from audit.ids import new_id
from audit.models import AgentReasoningAudit, AgentStep, DiagnosisRun, DiagnosisTraceEvent, RunStatus, ToolInvocation
from audit.recorder import RunRecorder
from audit.records import Details
from audit.runs import FinalState, finish_run, open_run
from audit.vault import Vault
from harness.recorder import (
    AgentStarted,
    BudgetExhausted,
    Cancelled,
    EvidenceChecked,
    GuardErrorRecord,
    Reasoning,
    Recorder,
    RoutingDecided,
    SemanticDecided,
)
from harness.tools.summary import ToolSummary
from tests.audit.factories import UserFactory
from tests.audit.records import AT, step_record, tool_record

CANCELLED = FinalState(RunStatus.CANCELLED, "DIAGNOSIS", 1, 1, 10, 1, 0.0)


def new_recorder(user: User) -> RunRecorder:
    run = open_run(
        user=user, session_id=None, run_id=new_id(), query="q", model="m", language="en", instance="i", run_seconds=60
    )
    return RunRecorder(run.run_id, run.session_id)


@pytest.fixture
def recorder(db: None) -> RunRecorder:
    return new_recorder(UserFactory.create())


@pytest.fixture
async def committed(transactional_db: None) -> RunRecorder:
    """For tests in which several threads, so several connections, see the run."""
    return await on_database_thread(lambda: new_recorder(UserFactory.create()))


def write(recorder: RunRecorder) -> None:
    recorder.write_with(lambda: True)


def test_it_is_the_harness_recorder(recorder: RunRecorder) -> None:
    as_recorder: Recorder = recorder
    as_recorder.event(RoutingDecided(intent="DIAGNOSIS"))
    as_recorder.step(step_record())
    as_recorder.tool(tool_record())
    write(recorder)
    step, tool = AgentStep.objects.get(), ToolInvocation.objects.get()
    assert (step.purpose, step.outcome, step.thought) == ("diagnosis", "OK", "")
    assert step.created_at == AT + timedelta(milliseconds=1500)
    assert (tool.status, tool.summary) == (
        "READY",
        {"topic": "APPLICATION", "lookback_minutes": 30, "match_count": 42},
    )


def test_the_timeline_is_numbered_without_gaps(recorder: RunRecorder) -> None:
    for _ in range(3):
        recorder.event(AgentStarted(has_previous_turn=False), at=AT)
    write(recorder)
    recorder.event(AgentStarted(has_previous_turn=False))
    write(recorder)
    assert list(DiagnosisTraceEvent.objects.order_by("seq").values_list("seq", flat=True)) == [1, 2, 3, 4]
    assert DiagnosisTraceEvent.objects.get(seq=1).at == AT


def test_details_and_summary_stay_within_their_bytes(recorder: RunRecorder) -> None:
    errors = [GuardErrorRecord(path="的" * 200, code="SCHEMA_INVALID")] * 20
    recorder.event(EvidenceChecked(
        attempt=1, passed=False, errors=errors, error_count=20, figures_total=0, figures_found=0, figures_missing=[]
    ))  # fmt: skip
    recorder.tool(tool_record(summary=ToolSummary(topic="T", columns=[f"column_{n}" for n in range(1000)])))
    write(recorder)
    details, summary = DiagnosisTraceEvent.objects.get().details, ToolInvocation.objects.get().summary
    assert json_bytes(details) <= 4096
    assert (details["cut"], details["error_count"], len(details["errors"])) == (True, 20, 5)
    assert json_bytes(summary) <= 2048
    assert (summary["cut"], summary["topic"], summary["columns"][0]) == (True, "T", "column_0")


@given(
    st.dictionaries(
        st.text(max_size=10),
        st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=30),
        max_size=8,
    ),
    st.integers(min_value=20, max_value=400),
)
def test_whatever_is_bounded_fits_and_small_values_stay(value: dict[str, Any], limit: int) -> None:
    kept = bounded(value, limit)
    assert json_bytes(kept) <= limit
    assert bounded(value, limit) == kept
    if "cut" not in kept:
        assert set(kept) == {name.replace("\0", "\ufffd") for name in value}


def test_text_that_postgresql_cannot_hold_is_stored_all_the_same(recorder: RunRecorder) -> None:
    recorder.event(SemanticDecided(verdict="UNSUPPORTED", reason="a\0b"))
    recorder.tool(tool_record(tool_name="x\0" * 60))
    write(recorder)
    assert DiagnosisTraceEvent.objects.get().details["reason"] == "a\ufffdb"
    assert len(ToolInvocation.objects.get().tool_name) == 64


class TestReasoning:
    """Source: 05-audit, "Reasoning"."""

    @pytest.fixture
    def key(self, monkeypatch: pytest.MonkeyPatch) -> str:
        key = Fernet.generate_key().decode()
        monkeypatch.setattr(recorder_module, "get_vault", lambda: Vault(key))
        return key

    def test_it_is_stored_encrypted(self, recorder: RunRecorder, key: str) -> None:
        recorder.step(step_record(reasoning=Reasoning(provider_field="thinking", content="先看日志")))
        write(recorder)
        row, step = AgentReasoningAudit.objects.get(), AgentStep.objects.get()
        assert row.reasoning_content is not None
        assert "先看日志" not in row.reasoning_content
        assert Vault(key).open(row.reasoning_content) == "先看日志"
        assert (row.step, row.provider_field, row.content_bytes, row.truncated) == (step, "thinking", 12, False)
        assert (step.reasoning_available, step.reasoning_bytes, step.thought) == (True, 12, "")

    @pytest.mark.parametrize("content", [None, "", "  \n"])
    def test_nothing_returned_is_said_so(self, recorder: RunRecorder, key: str, content: str | None) -> None:
        recorder.step(step_record(reasoning=Reasoning(provider_field="reasoning", content=content)))
        write(recorder)
        row = AgentReasoningAudit.objects.get()
        assert (row.reasoning_available, row.reasoning_content, row.content_bytes) == (False, None, 0)
        assert (row.provider_field, row.no_content_reason, row.truncated) == (None, None, False)

    def test_it_is_cut_where_the_provider_says_so_too(self, recorder: RunRecorder, key: str) -> None:
        recorder.step(step_record(reasoning=Reasoning(provider_field="r", content="想" * 32_000, truncated=True)))
        write(recorder)
        row = AgentReasoningAudit.objects.get()
        assert (row.content_bytes, row.truncated) == (96_000, True)

    def test_without_a_key_the_content_is_not_stored(
        self, recorder: RunRecorder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recorder_module, "get_vault", lambda: Vault(""))
        recorder.step(step_record(reasoning=Reasoning(provider_field="thinking", content="secret thought")))
        write(recorder)
        row = AgentReasoningAudit.objects.get()
        assert (row.reasoning_available, row.reasoning_content, row.no_content_reason) == (True, None, "NO_KEY")
        assert row.content_bytes == 14


async def test_a_run_of_many_steps_takes_twelve_transactions_at_most(
    committed: RunRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "FIRST_PAUSE_SECONDS", 0)
    batches = []
    write_with = committed.write_with

    def counted(change: Callable[[], bool], last: Sequence[Details] = ()) -> bool:
        batches.append(threading.current_thread().name)
        return write_with(change, last)

    monkeypatch.setattr(committed, "write_with", counted)
    for index in range(1, 101):
        committed.step(step_record(index))
        await committed.checkpoint()
    assert await on_database_thread(finish_run, committed, CANCELLED)
    assert len(batches) == 11  # with opening: 12
    assert all(name.startswith("audit-database") for name in batches)
    assert await on_database_thread(AgentStep.objects.count) == 100


async def test_checkpoints_close_together_share_a_batch(committed: RunRecorder) -> None:
    for index in range(1, 6):
        committed.step(step_record(index))
        await committed.checkpoint()
    assert await on_database_thread(AgentStep.objects.count) == 1
    assert await on_database_thread(finish_run, committed, CANCELLED)
    assert await on_database_thread(AgentStep.objects.count) == 5


async def test_a_batch_whose_caller_was_cancelled_is_written_once(committed: RunRecorder) -> None:
    for index in range(1, 51):
        committed.step(step_record(index))
    task = asyncio.create_task(committed.checkpoint())
    await asyncio.sleep(0)
    task.cancel()
    committed.step(step_record(51))
    assert await on_database_thread(finish_run, committed, CANCELLED)
    await asyncio.wait([task])
    assert await on_database_thread(AgentStep.objects.count) == 51


def _break(run_id: UUID) -> bool:
    """End the connection that the thread uses, as a restart of PostgreSQL does."""
    assert DiagnosisRun.objects.filter(pk=run_id).exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    return True


async def test_a_database_that_is_away_is_said_so_and_nothing_is_lost(committed: RunRecorder) -> None:
    committed.step(step_record(1))
    with pytest.raises(AuditUnavailableError):
        await on_database_thread(committed.write_with, partial(_break, committed.run_id))
    assert await on_database_thread(finish_run, committed, CANCELLED)
    assert await on_database_thread(AgentStep.objects.count) == 1


async def test_last_events_of_an_end_that_was_not_stored_leave_no_trace(committed: RunRecorder) -> None:
    committed.event(BudgetExhausted(reason="TOKENS"))
    with pytest.raises(AuditUnavailableError):
        await on_database_thread(
            committed.write_with, partial(_break, committed.run_id), [Cancelled(reason="CLIENT_GONE")]
        )
    assert await on_database_thread(finish_run, committed, CANCELLED, [Cancelled(reason="SHUTTING_DOWN")])
    rows = await on_database_thread(
        lambda: list(DiagnosisTraceEvent.objects.order_by("seq").values_list("seq", "event_type", "details"))
    )
    assert rows == [
        (1, "BUDGET_EXHAUSTED", {"reason": "TOKENS"}),
        (2, "CANCELLED", {"reason": "SHUTTING_DOWN"}),
    ]
