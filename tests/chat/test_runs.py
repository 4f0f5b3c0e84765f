"""Places for runs in one process, and how runs end together."""

import asyncio

import pytest

from chat.runs import ProcessFullError, RunningRun, RunRegistry
from harness.errors import StopReason
from tests.chat.running import running_run, until_stopped


def add(registry: RunRegistry) -> tuple[RunningRun, asyncio.Task[None]]:
    run = running_run()
    registry.reserve()
    task = asyncio.create_task(until_stopped(run))
    registry.add(run, task)
    return run, task


async def test_the_place_after_the_last_one_is_refused_and_a_freed_one_is_given_again() -> None:
    registry = RunRegistry(2)
    registry.reserve()
    run, task = add(registry)
    with pytest.raises(ProcessFullError):
        registry.reserve()
    run.stop(StopReason.CANCELLED)
    await task
    await asyncio.sleep(0)
    registry.reserve()
    assert registry.get(run.run_id) is None


async def test_the_first_reason_to_stop_counts() -> None:
    run = running_run()
    assert run.stop(StopReason.CANCELLED)
    assert run.stop(StopReason.DEADLINE)
    assert run.ctx.cancellation.reason is StopReason.CANCELLED


async def test_nothing_stops_a_run_whose_end_is_decided() -> None:
    run = running_run()
    run.decided = True
    assert not run.stop(StopReason.CANCELLED)
    assert run.ctx.cancellation.reason is None


async def test_a_draining_process_takes_nothing_and_waits_for_what_runs() -> None:
    registry = RunRegistry(5)
    run, _ = add(registry)
    draining = asyncio.create_task(registry.drain(3600))
    await asyncio.sleep(0)
    with pytest.raises(ProcessFullError):
        registry.reserve()
    assert not draining.done()
    run.stop(StopReason.CLIENT_GONE)
    await draining
    assert run.ctx.cancellation.reason is StopReason.CLIENT_GONE
    assert len(registry) == 0


async def test_what_outlives_the_drain_is_stopped_as_shutting_down() -> None:
    registry = RunRegistry(5)
    runs = [add(registry)[0] for _ in range(3)]
    await registry.drain(0)
    assert {run.ctx.cancellation.reason for run in runs} == {StopReason.SHUTTING_DOWN}
    assert len(registry) == 0


async def test_a_run_that_was_being_opened_when_the_drain_ended_is_stopped_too() -> None:
    registry = RunRegistry(5)
    registry.reserve()
    draining = asyncio.create_task(registry.drain(0))
    await asyncio.sleep(0.01)
    run = running_run()
    registry.add(run, asyncio.create_task(until_stopped(run)))
    await draining
    assert run.ctx.cancellation.reason is StopReason.SHUTTING_DOWN


async def test_an_idle_process_drains_at_once() -> None:
    await RunRegistry(5).drain(3600)
