"""Stopping a run from the process that holds it, from another one, and when nobody holds it.

Two buses on one loop stand for two processes: each has a registry and a channel of its own.
"""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from chat import cancel
from chat.cancel import CancelBus, CancelOutcome
from chat.runs import RunningRun, RunRegistry
from harness.errors import StopReason
from superbiz.demo.services import Services
from tests.chat.running import running_run, until_stopped


@pytest.fixture
async def here(services: Services) -> AsyncIterator[tuple[RunRegistry, CancelBus]]:
    registry = RunRegistry(10)
    bus = CancelBus(registry)
    bus.start()
    yield registry, bus
    await bus.close()


@pytest.fixture
async def other(services: Services) -> AsyncIterator[tuple[RunRegistry, CancelBus]]:
    registry = RunRegistry(10)
    bus = CancelBus(registry)
    bus.start()
    yield registry, bus
    await bus.close()


def add(registry: RunRegistry) -> RunningRun:
    run = running_run()
    registry.reserve()
    registry.add(run, asyncio.create_task(until_stopped(run)))
    return run


async def test_a_run_of_this_process_is_stopped(here: tuple[RunRegistry, CancelBus]) -> None:
    registry, bus = here
    run = add(registry)
    assert await bus.cancel(run.run_id) is CancelOutcome.STOPPED
    assert run.ctx.cancellation.reason is StopReason.CANCELLED


async def test_a_run_whose_end_is_decided_has_ended(here: tuple[RunRegistry, CancelBus]) -> None:
    registry, bus = here
    run = add(registry)
    run.decided = True
    assert await bus.cancel(run.run_id) is CancelOutcome.ENDED
    assert run.ctx.cancellation.reason is None


@pytest.mark.parametrize(("decided", "outcome"), [(False, CancelOutcome.STOPPED), (True, CancelOutcome.ENDED)])
async def test_a_run_of_another_process_is_reached_and_its_answer_comes_back(
    here: tuple[RunRegistry, CancelBus],
    other: tuple[RunRegistry, CancelBus],
    monkeypatch: pytest.MonkeyPatch,
    decided: bool,
    outcome: CancelOutcome,
) -> None:
    monkeypatch.setattr(cancel, "ANSWER_SECONDS", 30.0)
    run = add(other[0])
    run.decided = decided
    assert await here[1].cancel(run.run_id) is outcome
    assert run.ctx.cancellation.reason is (None if decided else StopReason.CANCELLED)


async def test_a_run_that_no_process_holds_is_answered_by_nobody(
    here: tuple[RunRegistry, CancelBus], other: tuple[RunRegistry, CancelBus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancel, "ANSWER_SECONDS", 0.5)
    bystander = add(other[0])
    assert await here[1].cancel(uuid4()) is CancelOutcome.NOT_HELD
    assert bystander.ctx.cancellation.reason is None
