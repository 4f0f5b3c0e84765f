"""Deletes what is older than its retention, in small batches, parents last. Source: 05-audit, "Retention"."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Exists, OuterRef, Q

from audit.models import (
    AgentReasoningAudit,
    AgentStep,
    ChatSession,
    DiagnosisRun,
    DiagnosisTraceEvent,
    ReasoningAccess,
    RunStatus,
    ToolInvocation,
)

logger = logging.getLogger(__name__)

BATCH_ROWS = 1_000  # short transactions: nobody waits for the purge

Due = models.QuerySet[models.Model]


def purge(now: datetime) -> dict[str, int]:
    """Delete everything that is due at `now`. Returns the rows deleted by table; logs them."""
    deleted = {table: _delete_all(due) for table, due in _plan(now)}
    logger.info("retention: %s", ", ".join(f"{table} {count}" for table, count in deleted.items()))
    return deleted


def count_due(now: datetime) -> dict[str, int]:
    """How many rows `purge` would delete, by table; deletes nothing."""
    return {table: due(True).count() for table, due in _plan(now)}


def _plan(now: datetime) -> Iterator[tuple[str, Callable[[bool], Due]]]:
    """Tables in the order of deletion, each with its due rows.

    `ahead` asks for what will be due once the tables before it are purged: children are then ignored.
    Without it a parent whose children are still there is left alone, so that no key is ever broken.
    """
    keep = settings.SUPERBIZ.retention
    reasoning = now - timedelta(days=min(keep.reasoning_days, keep.trace_days, keep.runs_days))
    trace = now - timedelta(days=min(keep.trace_days, keep.runs_days))
    runs = now - timedelta(days=keep.runs_days)
    all_runs = DiagnosisRun.objects.all()
    old_runs = all_runs.filter(started_at__lt=runs).exclude(status=RunStatus.RUNNING)
    kept_runs = all_runs.filter(Q(started_at__gte=runs) | Q(status=RunStatus.RUNNING))
    yield "agent_reasoning_audit", lambda ahead: AgentReasoningAudit.objects.filter(created_at__lt=reasoning)
    yield (
        "agent_step",
        lambda ahead: _childless(AgentStep.objects.filter(created_at__lt=trace), ahead, "step", AgentReasoningAudit),
    )
    yield "tool_invocation", lambda ahead: ToolInvocation.objects.filter(started_at__lt=trace)
    yield "diagnosis_trace_event", lambda ahead: DiagnosisTraceEvent.objects.filter(at__lt=trace)
    yield (
        "diagnosis_run",
        lambda ahead: _childless(
            old_runs, ahead, "run", AgentReasoningAudit, AgentStep, ToolInvocation, DiagnosisTraceEvent
        ),
    )
    yield (
        "chat_session",
        lambda ahead: ChatSession.objects.filter(last_active_at__lt=runs).exclude(
            Exists((kept_runs if ahead else all_runs).filter(session=OuterRef("pk")))
        ),
    )
    yield "reasoning_access", lambda ahead: ReasoningAccess.objects.filter(at__lt=runs)


def _childless(parents: Due, ahead: bool, key: str, *children: type[models.Model]) -> Due:
    if not ahead:
        for child in children:
            parents = parents.exclude(Exists(child._default_manager.filter(**{key: OuterRef("pk")})))
    return parents


def _delete_all(due: Callable[[bool], Due]) -> int:
    total = 0
    while True:
        with transaction.atomic():
            with connection.cursor() as cursor:
                # Lets the trigger of the timeline pass, in this transaction alone.
                cursor.execute("SELECT set_config('superbiz.purge', 'on', true)")
            keys = list(due(False).values_list("pk", flat=True)[:BATCH_ROWS])
            rows = due(False).model._default_manager.filter(pk__in=keys)
            rows.delete()
        total += len(keys)
        if len(keys) < BATCH_ROWS:
            return total
