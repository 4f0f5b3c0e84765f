"""`POST /api/runs/{run_id}/cancel`: who may, and what it answers."""

import asyncio
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission, User
from django.test import AsyncClient

from audit.ids import new_id
from audit.models import DiagnosisRun, RunStatus
from chat import cancel
from chat.runs import RunningRun
from chat.runtime import Runtime
from harness.errors import StopReason
from tests.audit.factories import RunFactory
from tests.cast import ROLES, Cast, token_header
from tests.chat.running import running_run, until_stopped


def hold(runtime: Runtime) -> RunningRun:
    """A run of this process, without its row."""
    run = running_run()
    runtime.registry.reserve()
    runtime.registry.add(run, asyncio.create_task(until_stopped(run)))
    return run


@sync_to_async
def row_of(user: User, run: RunningRun | None = None, trait: str = "running") -> DiagnosisRun:
    """A row in the state of the factory's trait."""
    row: DiagnosisRun = RunFactory.create(
        session__user=user, run_id=run.run_id if run is not None else new_id(), **{trait: True}
    )
    return row


async def post(user: User | None, run_id: object) -> tuple[int, str | None]:
    headers = await sync_to_async(token_header)(user) if user is not None else {}
    response = await AsyncClient().post(f"/api/runs/{run_id}/cancel", headers=headers)
    return response.status_code, response.json().get("code")


@pytest.mark.parametrize("role", [None, *ROLES])
async def test_a_run_is_cancelled_by_its_owner_and_by_holders_of_the_permission(
    cast: Cast, runtime: Runtime, role: str | None
) -> None:
    run = hold(runtime)
    await row_of(cast.owner, run)
    answer = await post(cast[role] if role else None, run.run_id)
    if role in {"owner", "admin"}:
        assert answer == (202, None)
        assert run.ctx.cancellation.reason is StopReason.CANCELLED
        return
    assert answer == ((404, "RUN_NOT_FOUND") if role else (401, "NOT_AUTHENTICATED"))
    assert run.ctx.cancellation.reason is None
    run.stop(StopReason.CANCELLED)


async def test_the_permission_alone_is_enough(cast: Cast, runtime: Runtime) -> None:
    permission = await Permission.objects.aget(codename="cancel_diagnosisrun")
    await cast.auditor.user_permissions.aadd(permission)
    run = hold(runtime)
    await row_of(cast.owner, run)
    assert await post(cast.auditor, run.run_id) == (202, None)


async def test_a_run_that_does_not_exist_is_404(cast: Cast, runtime: Runtime) -> None:
    assert await post(cast.admin, uuid4()) == (404, "RUN_NOT_FOUND")


@pytest.mark.parametrize("end", ["cancelled", "failed", "fallback"])
async def test_a_run_that_has_ended_is_409(cast: Cast, runtime: Runtime, end: str) -> None:
    row = await row_of(cast.owner, trait=end)
    assert await post(cast.owner, row.pk) == (409, "RUN_ENDED")


async def test_a_run_whose_end_is_decided_but_not_yet_stored_is_409(cast: Cast, runtime: Runtime) -> None:
    run = hold(runtime)
    await row_of(cast.owner, run)
    run.decided = True
    assert await post(cast.owner, run.run_id) == (409, "RUN_ENDED")
    run.ctx.cancellation.stop(StopReason.CANCELLED)


async def test_a_running_run_that_no_process_holds_is_left_to_the_reaper(
    cast: Cast, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancel, "ANSWER_SECONDS", 0.5)
    row = await row_of(cast.owner)
    assert await post(cast.owner, row.pk) == (202, None)
    assert (await DiagnosisRun.objects.aget(pk=row.pk)).status == RunStatus.RUNNING
