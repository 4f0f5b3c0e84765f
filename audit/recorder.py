"""RunRecorder: one run's entries, kept in memory and written in batches. Source: 05-audit, "Recorder"."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from audit import feed, metrics, telemetry
from audit.bounds import DETAILS_BYTES, SUMMARY_BYTES, bounded, short
from audit.database import on_database_thread
from audit.errors import AuditUnavailableError
from audit.models import (
    AgentReasoningAudit,
    AgentStep,
    DiagnosisTraceEvent,
    NoContentReason,
    ToolInvocation,
)
from audit.records import Details, ModelCall, ReasoningRecord, ToolCall
from audit.vault import get_vault

BATCHES = 10  # with opening and finishing at most 12 transactions a run
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
REASONING_CHARACTERS = 32_000


@dataclass(frozen=True, slots=True)
class _Entry:
    """Values of a row to be. No model instance: inserting gives it a key, even if the transaction fails."""

    model: type[DiagnosisTraceEvent | ToolInvocation | AgentStep]
    values: dict[str, Any]
    reasoning: dict[str, Any] | None = None  # of a step, its reasoning row


@contextmanager
def database_or_unavailable() -> Iterator[None]:
    """Maps a database that is away to `AuditUnavailableError`."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise AuditUnavailableError("PostgreSQL is away") from error


class RunRecorder:
    """Implements the harness's `Recorder` for one run.

    `event`, `step` and `tool` only append. `checkpoint` writes what is waiting, first at once, then with pauses
    that double from 0.5 s to 30 s, and at most `BATCHES` times; what still waits is written with the run's final
    state. The run's budgets bound how much can wait.
    """

    def __init__(self, run_id: UUID, session_id: UUID) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self._seq = 0
        self._waiting: list[_Entry] = []
        self._unpublished: list[feed.Message] = []
        self.steps_for_spans: list[AgentStep] = []
        self.calls_for_spans: list[ToolInvocation] = []
        self._batches = 0
        self._next_write = 0.0
        # A batch whose caller was cancelled may still be on its way when the run is finished: one at a time.
        self._writing = threading.Lock()
        metrics.ACTIVE_RUNS.add(self)

    def event(self, details: Details, at: datetime | None = None) -> None:
        """Append a timeline event; its number is given here, so that the timeline has no gap."""
        self._seq += 1
        values = self._event_values(self._seq, details, at)
        self._waiting.append(_Entry(DiagnosisTraceEvent, values))
        self._unpublished.append(feed.timeline_message(self.session_id, **values))

    def step(self, record: ModelCall) -> None:
        """Append one attempt of a model call, with its reasoning: at most 32,000 characters, encrypted here."""
        content = record.reasoning.content or ""
        kept = content[:REASONING_CHARACTERS] if content.strip() else ""
        created_at = record.started_at + timedelta(milliseconds=record.duration_ms)
        reasoning = _reasoning_values(record.reasoning, kept)
        values = {
            "run_id": self.run_id,
            "step_index": record.step_index,
            "purpose": short(record.purpose, 20),
            "attempt": record.attempt,
            "outcome": short(record.outcome, 10),
            "message_count": record.message_count,
            "message_roles": [short(role, 20) for role in record.message_roles],
            "has_text": record.has_text,
            "tool_names": [short(name, 64) for name in record.tool_names],
            "reasoning_available": reasoning["reasoning_available"],
            "reasoning_bytes": reasoning["content_bytes"],
            "input_tokens": record.input_tokens,
            "output_tokens": record.output_tokens,
            "tokens_estimated": record.tokens_estimated,
            "finish_reason": None if record.finish_reason is None else short(record.finish_reason, 40),
            "duration_ms": record.duration_ms,
            "created_at": created_at,
        }
        reasoning |= {"run_id": self.run_id, "created_at": created_at}
        self._waiting.append(_Entry(AgentStep, values, reasoning))
        if telemetry.is_on():
            self.steps_for_spans.append(AgentStep(**values))

    def tool(self, record: ToolCall) -> None:
        """Append one tool call that ended."""
        summary = {k: v for k, v in record.summary.model_dump(mode="json").items() if v not in (None, [])}
        values = {
            "run_id": self.run_id,
            "tool_call_id": short(record.tool_call_id, 160),
            "tool_name": short(record.tool_name, 64),
            "status": short(record.status, 12),
            "evidence_status": short(record.evidence_status, 20),
            "error_code": record.error_code,
            "summary": bounded(summary, SUMMARY_BYTES),
            "raw_bytes": record.raw_bytes,
            "result_bytes": record.result_bytes,
            "started_at": record.started_at,
            "duration_ms": record.duration_ms,
        }
        self._waiting.append(_Entry(ToolInvocation, values))
        if telemetry.is_on():
            self.calls_for_spans.append(ToolInvocation(**values))
        metrics.observe_tool_call(record)

    async def checkpoint(self) -> None:
        """Write what is waiting, if a batch is due. Raises `AuditUnavailableError` when the database is away.

        What could not be written keeps waiting, in order.
        """
        self._publish()
        if not self._waiting or self._batches >= BATCHES or time.monotonic() < self._next_write:
            return
        pause = min(FIRST_PAUSE_SECONDS * 2**self._batches, LONGEST_PAUSE_SECONDS)
        self._batches += 1
        self._next_write = time.monotonic() + pause
        await on_database_thread(self.write_with, lambda: True)

    def write_with(self, change: Callable[[], bool], last: Sequence[Details] = ()) -> bool:
        """In one transaction: `change`, and if it says True all waiting entries. Blocks; off the event loop only.

        `last` are timeline events that are true only once this is written, and follow all others.
        Returns what `change` returned. Raises `AuditUnavailableError`; then nothing was written.
        """
        with self._writing:
            entries = tuple(self._waiting)
            endings = [self._event_values(seq, details) for seq, details in enumerate(last, self._seq + 1)]
            with database_or_unavailable(), transaction.atomic():
                changed = change()
                if changed:
                    _insert((*entries, *(_Entry(DiagnosisTraceEvent, values) for values in endings)))
            if changed:
                del self._waiting[: len(entries)]
                self._seq += len(endings)
                self._unpublished += [feed.timeline_message(self.session_id, **values) for values in endings]
        return changed

    def publish_final(self, message: feed.Message) -> None:
        """Hand the feed what it has not seen yet, and then `message`: the run is over."""
        metrics.ACTIVE_RUNS.discard(self)
        self._unpublished.append(message)
        self._publish()

    def _event_values(self, seq: int, details: Details, at: datetime | None = None) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "seq": seq,
            "event_type": details.event_type,
            "at": at or datetime.now(UTC),
            "details": bounded(details.model_dump(mode="json"), DETAILS_BYTES),
        }

    def _publish(self) -> None:
        messages, self._unpublished = self._unpublished, []
        feed.publish(messages)


def _insert(entries: tuple[_Entry, ...]) -> None:
    events = [DiagnosisTraceEvent(**entry.values) for entry in entries if entry.model is DiagnosisTraceEvent]
    tools = [ToolInvocation(**entry.values) for entry in entries if entry.model is ToolInvocation]
    steps = [AgentStep(**entry.values) for entry in entries if entry.model is AgentStep]
    if events:
        DiagnosisTraceEvent.objects.bulk_create(events)
    if tools:
        ToolInvocation.objects.bulk_create(tools)
    if steps:
        made = AgentStep.objects.bulk_create(steps)
        reasoning = [entry.reasoning for entry in entries if entry.reasoning is not None]
        AgentReasoningAudit.objects.bulk_create(
            AgentReasoningAudit(step=step, **values) for step, values in zip(made, reasoning, strict=True)
        )


def _reasoning_values(record: ReasoningRecord, kept: str) -> dict[str, Any]:
    vault = get_vault()
    sealed = vault.seal(kept) if kept and vault.has_key else None
    return {
        "provider_field": short(record.provider_field, 40) if kept and record.provider_field else None,
        "reasoning_available": bool(kept),
        "reasoning_content": sealed,
        "no_content_reason": NoContentReason.NO_KEY if kept and sealed is None else None,
        "content_bytes": len(kept.encode(errors="replace")),
        "truncated": bool(kept) and (record.truncated or len(record.content or "") > REASONING_CHARACTERS),
    }
