"""Waiting for what a served process does in its own time."""

import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from audit.models import DiagnosisRun, RunStatus

T = TypeVar("T")
FIRST_CALL_SECONDS = 60  # a process imports litellm before its first model call


def eventually(look: Callable[[], T], seconds: float = 30) -> T:
    """What `look` returns as soon as it is true; fails after `seconds`."""
    until = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)
    return found


def ended(run_id: UUID) -> DiagnosisRun:
    """The run, once it has its final state."""
    run = eventually(lambda: DiagnosisRun.objects.filter(pk=run_id).exclude(status=RunStatus.RUNNING).first())
    assert run is not None
    return run
