"""The tool boundary over real Redis: what runs, what is refused, and what is kept of it.

The tool here is one of the test's own, since each real tool has tests of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Annotated, Any, ClassVar
from uuid import uuid4

import pytest
from pydantic import Field
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from harness.boundary import RunTools, ToolBoundary, WireToolCall
from harness.config import BudgetSettings, EvidenceSettings, HarnessSettings
from harness.context import RunContext
from harness.errors import BudgetReason, RunStoppedError, StopReason, ToolCallError, ToolErrorCode
from harness.recorder import ToolCallStatus, now
from harness.store import InvocationRecord, InvocationStore
from harness.tools.base import EvidenceStatus, JsonObject, StrictModel
from harness.tools.summary import ToolSummary
from tests.harness.runs import KeptStatuses, run_context


class EchoArguments(StrictModel):
    text: Annotated[str, Field(min_length=1, max_length=5000)]
    times: int = 1


class EchoTool:
    """Says its text again; some texts make it fail."""

    name: ClassVar[str] = "query_logs"
    description = "echo"
    arguments = EchoArguments
    timeout_seconds = 0.2

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.cancelled = 0

    async def run(self, ctx: RunContext, arguments: EchoArguments) -> JsonObject:
        self.runs.append(arguments.text)
        if arguments.text == "sleep":
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if arguments.text == "refuse":
            raise ToolCallError(ToolErrorCode.NOT_ALLOWED, "Ask for another thing.")
        if arguments.text == "break":
            raise KeyError("planted-internal-detail")
        if arguments.text == "nan":
            return {"value": float("nan")}
        if arguments.text == "broken text":
            return {"texts": ["NUL \0 and half \ud83d of an emoji"]}
        return {"texts": [arguments.text] * arguments.times}

    def project(self, raw: JsonObject, arguments: EchoArguments, tool_call_id: str) -> JsonObject:
        if arguments.text == "unprojectable":
            raise IndexError("planted-internal-detail")
        status = EvidenceStatus.NO_EVIDENCE if arguments.text == "nothing" else EvidenceStatus.EVIDENCE_FOUND
        return {
            "evidence_status": status.value,
            "tool_call_id": tool_call_id,
            "rows": [{"text": text} for text in raw["texts"]],
            "returned_count": len(raw["texts"]),
            "truncated": False,
        }

    def summarize(self, arguments: EchoArguments, agent_result: JsonObject | None) -> ToolSummary:
        return ToolSummary(returned_count=None if agent_result is None else agent_result["returned_count"])

    def normalise(self, arguments: EchoArguments) -> str:
        return f"{arguments.text.strip()} {arguments.times}"


class Bench:
    """One run's tools with everything around them in reach."""

    def __init__(self, store: InvocationStore, settings: HarnessSettings) -> None:
        self.tool = EchoTool()
        self.ctx, self.records = run_context(settings.budget)
        self.statuses = KeptStatuses()
        self.store = store
        self.tools: RunTools = ToolBoundary(store, [self.tool], settings).open(self.ctx, self.statuses)

    async def call(self, text: str, tool_call_id: str | None = "call_1", name: str = "query_logs", **more: Any) -> Any:
        return await self.tools.execute(WireToolCall(tool_call_id, name, json.dumps({"text": text, **more})))

    async def record(self, tool_call_id: str = "call_1") -> InvocationRecord | None:
        return (await self.store.load(self.ctx.run_id, [tool_call_id])).get(tool_call_id)


@pytest.fixture
async def store(harness_redis_url: str) -> AsyncIterator[InvocationStore]:
    store = InvocationStore.from_url(harness_redis_url, EvidenceSettings())
    yield store
    await store.close()


@pytest.fixture
def bench(store: InvocationStore) -> Bench:
    return Bench(store, HarnessSettings())


def code(result: JsonObject) -> str:
    assert result["evidence_status"] == "ERROR"
    assert result["error"]["message"]
    assert "planted-internal-detail" not in json.dumps(result)
    return str(result["error"]["code"])


async def test_it_works(bench: Bench) -> None:
    result = await bench.call("hello")
    assert result["evidence_status"] == "EVIDENCE_FOUND"
    record = await bench.record()
    assert record is not None
    assert (record.status, record.evidence_status) == (ToolCallStatus.READY, EvidenceStatus.EVIDENCE_FOUND)
    assert record.request == {"text": "hello", "times": 1}
    assert record.raw_response == {"texts": ["hello"]}
    assert record.agent_result == result
    assert bench.statuses.codes() == ["TOOL_RUNNING", "TOOL_FINISHED"]
    assert bench.records.types() == ["TOOL_STARTED", "TOOL_FINISHED"]
    assert bench.records.tools[0].raw_bytes == len(json.dumps({"texts": ["hello"]}))


async def test_text_that_no_store_takes_is_replaced(bench: Bench) -> None:
    result = await bench.call("broken text")
    assert result["rows"] == [{"text": "NUL \ufffd and half \ufffd of an emoji"}]
    record = await bench.record()
    assert record is not None
    assert record.agent_result == result


@pytest.mark.parametrize("tool_call_id", [None, "", "a b", "x" * 129, "调用", "a\n"])
async def test_a_missing_or_malformed_id_is_refused_and_leaves_no_record(
    bench: Bench, tool_call_id: str | None
) -> None:
    assert code(await bench.call("hello", tool_call_id)) == "INVALID_TOOL_CALL_ID"
    assert bench.tool.runs == []
    assert bench.records.tools[0].tool_call_id == "!1"
    assert bench.ctx.budget.usage.tool_calls == 1


async def test_an_id_of_the_greatest_length_is_fine(bench: Bench) -> None:
    assert (await bench.call("hello", "a" * 128))["evidence_status"] == "EVIDENCE_FOUND"


async def test_a_repeated_id_is_refused_and_overwrites_nothing(bench: Bench) -> None:
    first = await bench.call("first")
    assert code(await bench.call("second")) == "INVALID_TOOL_CALL_ID"
    record = await bench.record()
    assert record is not None
    assert record.agent_result == first
    assert bench.tool.runs == ["first"]


async def test_an_id_that_another_process_used_is_refused_and_overwrites_nothing(
    bench: Bench, store: InvocationStore
) -> None:
    other = InvocationRecord(
        tool_call_id="call_1",
        run_id=bench.ctx.run_id,
        tool_name="query_logs",
        request={"text": "other"},
        status=ToolCallStatus.PROJECTING,
        started_at=now(),
    )
    assert await store.create(other)
    assert code(await bench.call("mine")) == "INVALID_TOOL_CALL_ID"
    assert bench.tool.runs == []
    assert await bench.record() == other


async def test_an_unknown_tool_is_refused_and_counts(bench: Bench) -> None:
    result = await bench.call("hello", name="rm_rf")
    assert code(result) == "UNKNOWN_TOOL"
    assert "query_logs" in result["error"]["message"]
    assert "rm_rf" not in json.dumps(bench.records.tools[0].model_dump(mode="json"))
    assert bench.ctx.budget.usage.tool_calls == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{",
        "[]",
        '"text"',
        '{"text": 1}',
        '{"text": ""}',
        '{"text": "a", "extra": 1}',
        '{"text":"a","text":"b"}',
        r'{"text": "a\u0000"}',
        r'{"text": "\ud800"}',
        "{}",
    ],
)
async def test_bad_arguments_are_refused_and_count(bench: Bench, arguments: str) -> None:
    result = await bench.tools.execute(WireToolCall("call_1", "query_logs", arguments))
    assert code(result) == "INVALID_ARGUMENTS"
    assert bench.tool.runs == []
    assert bench.ctx.budget.usage.tool_calls == 1
    record = await bench.record()
    assert record is not None
    assert record.status is ToolCallStatus.ERROR


async def test_the_same_question_is_not_asked_twice(bench: Bench) -> None:
    await bench.call("hello")
    result = await bench.call(" hello ", "call_2")
    assert code(result) == "REPEATED_QUERY"
    assert "call_1" in result["error"]["message"]
    assert bench.tool.runs == ["hello"]


async def test_a_question_that_failed_may_be_asked_again(bench: Bench) -> None:
    assert code(await bench.call("refuse")) == "NOT_ALLOWED"
    assert code(await bench.call("refuse", "call_2")) == "NOT_ALLOWED"
    assert bench.tool.runs == ["refuse", "refuse"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("refuse", "NOT_ALLOWED"),
        ("break", "UNAVAILABLE"),
        ("nan", "UNAVAILABLE"),
        ("unprojectable", "PROJECTION_FAILED"),
        ("sleep", "TIMEOUT"),
    ],
)
async def test_a_failure_is_an_error_result_and_an_error_record(bench: Bench, text: str, expected: str) -> None:
    assert code(await bench.call(text)) == expected
    record = await bench.record()
    assert record is not None
    assert (record.status, record.evidence_status, record.error_code) == (
        ToolCallStatus.ERROR,
        EvidenceStatus.ERROR,
        expected,
    )
    assert record.agent_result is None
    assert bench.records.tools[0].error_code == expected


@pytest.mark.parametrize(("settings", "reason"), [({"tool_calls": 1}, "TOOL_CALLS"), ({}, "TOOL_CALLS_PER_TOOL")])
async def test_calls_over_budget_come_back_as_errors(
    store: InvocationStore, settings: dict[str, int], reason: str
) -> None:
    bench = Bench(store, HarnessSettings(budget=BudgetSettings(tool_calls_per_tool={"query_logs": 1}, **settings)))
    await bench.call("one")
    assert code(await bench.call("two", "call_2")) == "BUDGET_EXHAUSTED"
    assert bench.tool.runs == ["one"]
    assert bench.ctx.budget.exhausted is BudgetReason(reason)


async def test_raw_results_pass_up_to_the_limit_and_not_one_byte_more(store: InvocationStore) -> None:
    size = len(json.dumps({"texts": ["x" * 1000]}))
    for limit, expected in ((size, "EVIDENCE_FOUND"), (size - 1, "ERROR")):
        evidence = EvidenceSettings(max_agent_result_bytes=limit, max_record_bytes=limit)
        result = await Bench(store, HarnessSettings(evidence=evidence)).call("x" * 1000)
        assert result["evidence_status"] == expected
    assert code(result) == "RESULT_TOO_LARGE"


async def test_a_run_that_stores_too_much_gets_errors(store: InvocationStore) -> None:
    evidence = EvidenceSettings(max_agent_result_bytes=5000, max_record_bytes=5000, max_run_bytes=5000)
    bench = Bench(store, HarnessSettings(evidence=evidence))
    assert (await bench.call("x" * 2000))["evidence_status"] == "EVIDENCE_FOUND"
    assert code(await bench.call("y" * 2000, "call_2")) == "RESULT_TOO_LARGE"


async def test_what_the_agent_sees_is_cut_to_its_limit(store: InvocationStore) -> None:
    bench = Bench(store, HarnessSettings(evidence=EvidenceSettings(max_agent_result_bytes=1000)))
    result = await bench.call("x" * 100, times=50)
    assert result["truncated"] is True
    assert len(json.dumps(result)) <= 1000
    assert result["returned_count"] == len(result["rows"]) > 0


async def test_redis_away_is_an_error_and_the_tool_does_not_run() -> None:
    away = InvocationStore.from_url("redis://127.0.0.1:1/0", EvidenceSettings())
    bench = Bench(away, HarnessSettings())
    assert code(await bench.call("hello")) == "STORE_UNAVAILABLE"
    assert bench.tool.runs == []
    await away.close()


async def test_a_stopped_run_starts_no_tool(bench: Bench) -> None:
    bench.ctx.cancellation.stop(StopReason.CANCELLED)
    with pytest.raises(RunStoppedError):
        await bench.call("hello")
    assert bench.tool.runs == []


async def test_cancelling_the_run_cancels_the_tool_and_records_the_call(bench: Bench) -> None:
    task = asyncio.create_task(bench.call("sleep"))
    while not bench.tool.runs:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.tool.cancelled == 1
    assert bench.records.tools[0].status is ToolCallStatus.ERROR


async def test_calls_of_one_reply_run_one_after_the_other(bench: Bench) -> None:
    await asyncio.gather(*(bench.call(f"text {n}", f"call_{n}") for n in range(5)))
    assert bench.statuses.codes() == ["TOOL_RUNNING", "TOOL_FINISHED"] * 5


async def test_records_only_move_forward(store: InvocationStore) -> None:
    record = InvocationRecord(
        tool_call_id="call_1",
        run_id=uuid4(),
        tool_name="query_logs",
        request={},
        status=ToolCallStatus.PROJECTING,
        started_at=now(),
    )
    ready = record.model_copy(update={"status": ToolCallStatus.READY, "agent_result": {}})
    error = record.model_copy(update={"status": ToolCallStatus.ERROR})
    assert not await store.complete(ready)
    assert await store.create(record)
    assert not await store.create(ready)
    assert await store.complete(ready)
    assert not await store.complete(error)
    assert (await store.load(record.run_id, ["call_1"]))["call_1"] == ready
    with pytest.raises(ValueError, match="READY or ERROR"):
        await store.complete(record)


async def test_of_two_racing_processes_one_creates_the_record(harness_redis_url: str) -> None:
    stores = [InvocationStore.from_url(harness_redis_url, EvidenceSettings()) for _ in range(2)]
    run_id = uuid4()
    make: Callable[[int], InvocationRecord] = lambda n: InvocationRecord(  # noqa: E731
        tool_call_id="call_1",
        run_id=run_id,
        tool_name="query_logs",
        request={"n": n},
        status=ToolCallStatus.PROJECTING,
        started_at=now(),
    )
    created = await asyncio.gather(*(stores[n % 2].create(make(n)) for n in range(20)))
    assert sum(created) == 1
    assert (await stores[0].load(run_id, ["call_1"]))["call_1"].request == {"n": created.index(True)}
    for store in stores:
        await store.close()


async def test_nothing_extends_a_records_life(redis_admin_url: str, harness_redis_url: str) -> None:
    store = InvocationStore.from_url(harness_redis_url, EvidenceSettings(ttl_seconds=7200))
    admin = Redis.from_url(redis_admin_url)
    bench = Bench(store, HarnessSettings())
    await bench.call("hello")
    key = InvocationStore.key(bench.ctx.run_id, "call_1")
    await admin.expire(key, timedelta(seconds=50))
    await store.load(bench.ctx.run_id, ["call_1"])
    assert not await store.complete(
        InvocationRecord(
            tool_call_id="call_1",
            run_id=bench.ctx.run_id,
            tool_name="query_logs",
            request={},
            status=ToolCallStatus.ERROR,
            started_at=now(),
        )
    )
    assert 0 < await admin.ttl(key) <= 50
    await admin.aclose()
    await store.close()


async def test_a_projecting_record_keeps_its_life_when_it_becomes_ready(
    redis_admin_url: str, store: InvocationStore
) -> None:
    admin = Redis.from_url(redis_admin_url)
    record = InvocationRecord(
        tool_call_id="call_1",
        run_id=uuid4(),
        tool_name="query_logs",
        request={},
        status=ToolCallStatus.PROJECTING,
        started_at=now(),
    )
    await store.create(record)
    key = InvocationStore.key(record.run_id, "call_1")
    assert 7000 < await admin.ttl(key) <= 7200
    await admin.expire(key, timedelta(seconds=50))
    assert await store.complete(record.model_copy(update={"status": ToolCallStatus.READY}))
    assert 0 < await admin.ttl(key) <= 50
    await admin.aclose()


async def test_the_harness_user_reaches_its_own_keys_only(harness_redis_url: str) -> None:
    redis = Redis.from_url(harness_redis_url)
    with pytest.raises(NoPermissionError):
        await redis.get("superbiz:cache:1:anything")
    with pytest.raises(NoPermissionError):
        await redis.keys("*")
    await redis.aclose()


def test_a_record_shows_nothing_of_its_content_when_printed() -> None:
    record = InvocationRecord(
        tool_call_id="call_1",
        run_id=uuid4(),
        tool_name="query_logs",
        request={"text": "planted"},
        raw_response={"texts": ["planted"]},
        status=ToolCallStatus.PROJECTING,
        started_at=now(),
    )
    assert "planted" not in repr(record)
    assert "planted" not in f"{record}"
