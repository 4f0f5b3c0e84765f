"""The stream's framing, its order, and what a slow reader loses."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.stream import KEEP_ALIVE, Event, RunStream, encode

METADATA = Event("metadata", {"session_id": "s", "run_id": "r"})
CONTENT = Event("content", {"content_type": "SYSTEM_ANSWER", "payload": {"answer": "a"}})

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


def parse(frame: bytes) -> tuple[str, Any]:
    name, data = frame.decode().split("\n")[:2]
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def read_all(stream: RunStream) -> list[tuple[str, Any]]:
    events = []
    while (frame := await stream.next()) is not None:
        events.append(parse(frame))
    return events


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_every_event_is_one_event_line_one_data_line_and_a_blank_one(data: dict[str, Any]) -> None:
    frame = encode(Event("content", data))
    text = frame.decode("utf-8")
    assert [line.partition(":")[0] for line in text.splitlines()] == ["event", "data", ""]
    assert text.endswith("\n\n")
    assert json.loads(text.splitlines()[1].removeprefix("data: ")) == data


@given(st.text(alphabet="a中\r\n\0\u2028\u2029\x85\x0b\x0c\x1e%:'\"\\", max_size=60))
def test_line_breaks_of_all_kinds_stay_inside_the_data_line(text: str) -> None:
    frame = encode(Event("status", {"message": text}))
    assert frame.count(b"\n") == 3
    assert b"\r" not in frame
    assert parse(frame) == ("status", {"message": text})


def test_text_goes_out_as_utf8_not_as_escapes() -> None:
    assert '"支付超时"'.encode() in encode(Event("status", {"message": "支付超时"}))


def test_a_lone_surrogate_does_not_break_the_stream() -> None:
    assert parse(encode(Event("content", {"answer": "a\ud800b"}))) == ("content", {"answer": "a?b"})


def test_infinity_is_not_json_and_is_never_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode(Event("content", {"share": float("inf")}))


async def test_the_grammar_is_metadata_statuses_result_done() -> None:
    stream = RunStream(METADATA)
    stream.status("ROUTING", "1")
    stream.status("ANSWERING", "2")
    stream.end(CONTENT, "SUCCESS")
    assert await read_all(stream) == [
        ("metadata", METADATA.data),
        ("status", {"code": "ROUTING", "message": "1"}),
        ("status", {"code": "ANSWERING", "message": "2"}),
        ("content", CONTENT.data),
        ("done", {"outcome": "SUCCESS"}),
    ]
    assert stream.delivered.is_set()


@given(st.lists(st.sampled_from(["status", "end", "read"]), max_size=80), st.integers(min_value=1, max_value=5))
def test_whatever_happens_in_whatever_order_the_grammar_holds(steps: list[str], size: int) -> None:
    async def play() -> list[str]:
        stream, names = RunStream(METADATA, size), []
        for number, step in enumerate(steps):
            match step:
                case "status":
                    stream.status("ROUTING", str(number))
                case "end":
                    stream.end(CONTENT, "SUCCESS")
                case "read":
                    frame = await stream.next(timeout=0)
                    names.extend([] if frame in {None, KEEP_ALIVE} else [parse(frame or b"")[0]])
        stream.end(CONTENT, "SUCCESS")
        return names + [name for name, _ in await read_all(stream)]

    names = asyncio.run(play())
    assert (names[0], names[-2:]) == ("metadata", ["content", "done"])
    assert set(names[1:-2]) <= {"status"}


async def test_a_slow_reader_loses_the_oldest_statuses_and_never_the_ends() -> None:
    stream = RunStream(METADATA, size=3)
    for number in range(10):
        stream.status("TOOL_RUNNING", str(number))
    stream.end(CONTENT, "SUCCESS")
    events = await read_all(stream)
    assert [name for name, _ in events] == ["metadata", "status", "status", "status", "content", "done"]
    assert [data["message"] for _, data in events[1:4]] == ["7", "8", "9"]


async def test_the_first_end_counts_and_nothing_follows_it() -> None:
    stream = RunStream(METADATA)
    stream.end(Event("failure", {"code": "CANCELLED", "message": "m"}), "FAILED")
    stream.end(CONTENT, "SUCCESS")
    stream.status("ROUTING", "late")
    assert [name for name, _ in await read_all(stream)] == ["metadata", "failure", "done"]


async def test_after_the_reader_is_gone_nothing_is_sent() -> None:
    stream = RunStream(METADATA)
    stream.status("ROUTING", "1")
    stream.hang_up()
    stream.end(CONTENT, "SUCCESS")
    assert await stream.next() is None
    assert stream.delivered.is_set()


async def test_silence_is_filled_with_comments() -> None:
    stream = RunStream(METADATA)
    assert parse(await stream.next(timeout=0.01) or b"")[0] == "metadata"
    assert await stream.next(timeout=0.01) == KEEP_ALIVE
    assert KEEP_ALIVE == b": keep-alive\n\n"


async def test_a_waiting_reader_gets_a_status_at_once() -> None:
    stream = RunStream(METADATA)
    await stream.next()
    reader = asyncio.create_task(stream.next(timeout=60))
    await asyncio.sleep(0)
    stream.status("ROUTING", "1")
    assert parse(await reader or b"") == ("status", {"code": "ROUTING", "message": "1"})
