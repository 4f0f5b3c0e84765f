"""A search that ends before it is through: cancelled, or out of time."""

import asyncio
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ToolCallError, ToolErrorCode
from harness.tools.query_logs import search
from harness.tools.query_logs import tool as tool_module
from harness.tools.query_logs.tool import LogsTool
from tests.harness.query_logs.asking import NOW, ask, file_tool
from tests.harness.runs import run_context

LINES = 60_000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "shop.log"
    start = NOW - timedelta(seconds=LINES // 50)
    path.write_text(
        "".join(
            f"{start + timedelta(seconds=n // 50):%Y-%m-%d %H:%M:%S} INFO [shop] order {n} paid\n" for n in range(LINES)
        )
    )
    return path


class Held:
    """Holds each search of this process at one of its checks, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self.ended = threading.Event()
        check, run = search.Search.check, search.Search.run
        calls = iter(range(1_000_000))

        def held_check(self_: search.Search) -> None:
            if next(calls) == at:
                self.reached.set()
                assert self.go_on.wait(10)
            check(self_)

        def watched_run(self_: search.Search) -> dict[str, Any]:
            try:
                return run(self_)
            finally:
                self.ended.set()

        monkeypatch.setattr(search.Search, "check", held_check)
        monkeypatch.setattr(search.Search, "run", watched_run)


def started(tool: LogsTool) -> asyncio.Task[dict[str, Any]]:
    arguments = tool.arguments.model_validate_json('{"topic": "APPLICATION", "query": "order", "lookback_minutes": 30}')
    return asyncio.create_task(tool.run(run_context()[0], arguments))


async def test_a_cancelled_search_is_over_when_the_call_returns(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch, at=3)
    tool = file_tool(log)
    running = started(tool)
    await asyncio.to_thread(held.reached.wait, 10)
    running.cancel()
    await asyncio.sleep(0)  # the loop runs on while the thread is held
    assert not running.done()
    held.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert held.ended.is_set()
    tool.close()


async def test_a_search_that_waits_for_a_thread_can_be_cancelled_too(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch, at=0)
    monkeypatch.setattr(tool_module, "_THREADS", 1)
    tool = file_tool(log)
    first = started(tool)
    await asyncio.to_thread(held.reached.wait, 10)
    second = started(tool)
    await asyncio.sleep(0.01)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    held.go_on.set()
    assert (await first)["match_count"] == LINES
    tool.close()


async def test_out_of_time_the_result_says_how_far_it_came(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000_000))
    monkeypatch.setattr(search, "monotonic", lambda: float("-inf") if next(clock) < 150 else float("inf"))
    result = await ask(file_tool(log), "order")
    assert result["truncated"] is True
    assert 0 < result["match_count"] < LINES
    reached = datetime.fromisoformat(result["scope"]["end_time"])
    assert datetime.fromisoformat(result["scope"]["start_time"]) < reached < NOW
    start = NOW - timedelta(seconds=LINES // 50)
    before = sum(1 for n in range(LINES) if start + timedelta(seconds=n // 50) < reached)
    assert result["match_count"] >= before  # everything before that time was counted


async def test_out_of_time_before_anything_was_read_is_an_error(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "monotonic", lambda: float("inf"))
    with pytest.raises(ToolCallError) as raised:
        await ask(file_tool(log), "order")
    assert raised.value.code == ToolErrorCode.TIMEOUT
