"""Topics of real files: which lines count, in any file that a system leaves behind."""

import asyncio
import gzip
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ToolCallError
from tests.harness.query_logs.asking import DATA, NOW, SYSTEMS, ask, file_tool, line, sample
from tests.harness.query_logs.shift import shift_log


def messages(result: dict[str, Any]) -> list[str]:
    return [event["message"] for event in result["events"]]


async def test_only_lines_of_the_window_count(tmp_path: Path) -> None:
    lines = [line(ago, f"INFO [shop] paid {ago}") for ago in (31, 30, 29, 1, 0, -1)]
    (tmp_path / "app.log").write_text("".join(lines))
    result = await ask(file_tool(tmp_path), "paid")
    assert messages(result) == ["paid 30", "paid 29", "paid 1", "paid 0"]
    assert result["match_count"] == 4
    assert result["scope"] == {
        "topic": "APPLICATION",
        "query": "paid",
        "start_time": "2024-01-02T11:30:00.000Z",
        "end_time": "2024-01-02T12:00:00.000Z",
    }
    assert result["source_kind"] == "FILE"
    assert result["truncated"] is False


async def test_nothing_found_keeps_the_scope(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line(1))
    result = await ask(file_tool(tmp_path), "refunded")
    assert list(result) == [
        "evidence_status",
        "tool_call_id",
        "source_kind",
        "scope",
        "match_count",
        "returned_count",
        "patterns",
        "events",
        "truncated",
    ]
    assert (result["evidence_status"], result["match_count"], result["truncated"]) == ("NO_EVIDENCE", 0, False)
    assert result["scope"]["query"] == "refunded"


@pytest.mark.parametrize("system", SYSTEMS)
async def test_counts_equal_those_of_grep(system: str, tmp_path: Path) -> None:
    phrases = {
        "Apache": ["error state", "mod_jk child", "Directory index forbidden"],
        "HDFS": ["Got exception while serving", "PacketResponder", "blk_-"],
        "OpenSSH": ["Failed password", "invalid user", "POSSIBLE BREAK-IN ATTEMPT", "root"],
        "Spark": ["Got assigned task", "broadcast", "TID 9"],
    }[system]
    target = tmp_path / f"{system}.log"
    shift_log(sample(system), target, NOW)
    lines = target.read_text().splitlines()
    in_window = [each for each, at in zip(lines, times(target), strict=True) if NOW - timedelta(days=1) <= at <= NOW]
    assert len(in_window) > 900
    for phrase in phrases:
        result = await ask(file_tool(target), f'"{phrase}"', 1440)
        expected = sum(phrase.lower() in each.lower() for each in in_window)
        assert result["match_count"] == expected > 0, phrase
        assert sum(pattern["count"] for pattern in result["patterns"]) == expected
        assert all(any(message in each for each in lines) for message in messages(result))


def times(path: Path) -> list[datetime]:
    """Read apart from the tool: the first notation that fits."""
    found = []
    for each in path.read_text().splitlines():
        for start, end, notation in (
            (1, 25, "%a %b %d %H:%M:%S %Y"),
            (0, 13, "%y%m%d %H%M%S"),
            (0, 17, "%y/%m/%d %H:%M:%S"),
            (0, 15, "%b %d %H:%M:%S"),
        ):
            try:
                at = datetime.strptime(each[start:end], notation).replace(tzinfo=UTC)
            except ValueError:
                continue
            at = at.replace(year=NOW.year) if at.year == 1900 else at
            found.append(at if at <= NOW + timedelta(days=1) else at.replace(year=NOW.year - 1))
            break
    return found


async def test_old_logs_are_found_when_the_clock_is_set_back() -> None:
    tool = file_tool(sample("OpenSSH"), clock=lambda: datetime(2015, 12, 10, 11, 5, tzinfo=UTC))
    result = await ask(tool, '"Failed password"', 1440)
    assert result["match_count"] == sample("OpenSSH").read_text().count("Failed password")


async def test_folders_globs_and_files_are_read_once_each(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("a.log", "deep/b.log", "deep/er/c.txt"):
        (tmp_path / name).write_text(line(1))
    (tmp_path / "current.log").symlink_to(tmp_path / "a.log")
    os.link(tmp_path / "a.log", tmp_path / "hard.log")
    assert (await ask(file_tool(tmp_path), "paid"))["match_count"] == 3
    assert (await ask(file_tool(tmp_path / "*.log"), "paid"))["match_count"] == 1
    assert (await ask(file_tool(tmp_path / "**/*.log"), "paid"))["match_count"] == 2
    assert (await ask(file_tool(tmp_path / "a.log", tmp_path / "deep", tmp_path), "paid"))["match_count"] == 3


async def test_packed_and_rotated_files_belong_to_the_topic(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line(1))
    (tmp_path / "app.log.1").write_text(line(20))
    (tmp_path / "app.log.2.gz").write_bytes(gzip.compress((line(40) + line(25)).encode()))
    (tmp_path / "app.log.3.gz").write_bytes(gzip.compress(line(28).encode()) + gzip.compress(line(27).encode()))
    result = await ask(file_tool(tmp_path), "paid")
    assert result["match_count"] == 5
    assert [event["timestamp"] for event in result["events"]] == sorted(e["timestamp"] for e in result["events"])
    assert (await ask(file_tool(tmp_path), "service:app"))["match_count"] == 5


async def test_a_packed_file_that_ends_early_counts_as_far_as_it_goes(tmp_path: Path) -> None:
    dice = random.Random(1)
    whole = gzip.compress("".join(line(20, f"INFO [shop] paid {dice.random()}") for _ in range(20_000)).encode())
    (tmp_path / "app.log.gz").write_bytes(whole[: len(whole) // 2])
    result = await ask(file_tool(tmp_path), "paid")
    assert 5_000 < result["match_count"] < 15_000
    assert result["truncated"] is True
    (tmp_path / "app.log.gz").write_bytes(whole[:100_000] + b"damaged" * 9 + whole[100_063:])
    damaged = await ask(file_tool(tmp_path), "paid")
    assert damaged["truncated"] is True
    assert damaged["match_count"] < 20_000


async def test_a_packed_file_of_which_nothing_can_be_read_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(line(1).encode())[:10] + b"damaged" * 9)
    with pytest.raises(ToolCallError) as caught:
        await ask(file_tool(tmp_path), "paid")
    assert caught.value.code == "UNAVAILABLE"


async def test_files_that_are_no_logs_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line(1))
    (tmp_path / "empty.log").touch()
    (tmp_path / "blank.log").write_text("\n\n  \n")
    (tmp_path / "core.bin").write_bytes(random.Random(1).randbytes(50_000) + line(1, "paid").encode())
    (tmp_path / "old.zip").write_bytes(b"PK\x03\x04" + line(1, "paid").encode())
    (tmp_path / "dangling.log").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.log")
    for tool in (
        file_tool(tmp_path),
        file_tool(tmp_path / "*"),
        file_tool(tmp_path / "app.log", tmp_path / "pipe.log"),
    ):
        result = await ask(tool, "paid")
        assert result["match_count"] == 1
        assert result["truncated"] is False


async def test_a_file_that_cannot_be_read_makes_the_result_incomplete(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line(1))
    result = await ask(file_tool(tmp_path / "app.log", "/proc/self/mem"), "paid")
    assert (result["match_count"], result["truncated"]) == (1, True)


@pytest.mark.parametrize(
    ("content", "part"),
    [(None, "no log files"), ("\x01\x02" * 99, "no log files"), ("no time here\nnor here\n", "time that is known")],
)
async def test_a_topic_without_readable_lines_is_no_evidence_of_anything(
    content: str | None, part: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "app.log").write_text(content)
    with pytest.raises(ToolCallError) as caught:
        await ask(file_tool(tmp_path), "paid")
    assert caught.value.code == "UNAVAILABLE"
    assert part in caught.value.hint
    assert str(tmp_path) not in caught.value.hint


async def test_an_empty_file_says_that_nothing_was_logged(tmp_path: Path) -> None:
    (tmp_path / "app.log").touch()
    assert (await ask(file_tool(tmp_path), "paid"))["evidence_status"] == "NO_EVIDENCE"


async def test_line_ends_and_encodings_may_be_mixed(tmp_path: Path) -> None:
    text = "ERROR [shop] 订单支付超时"
    (tmp_path / "crlf.log").write_bytes((line(9, text) + line(8, text)).replace("\n", "\r\n").encode())
    (tmp_path / "open.log").write_text(line(7, text).rstrip("\n"))
    (tmp_path / "bom.log").write_bytes(b"\xef\xbb\xbf" + line(6, text).encode())
    (tmp_path / "wide.log").write_bytes(line(5, text).encode("utf-16"))
    (tmp_path / "wide.log.gz").write_bytes(gzip.compress((line(6, text) + line(4, text)).encode("utf-16")))
    (tmp_path / "mixed.log").write_bytes(line(3, text).encode("gb18030") + line(2, text).encode())
    (tmp_path / "broken.log").write_bytes(line(1, text).encode().replace(b"\n", b" \xff\xfe\n"))
    result = await ask(file_tool(tmp_path), "支付超时 level:ERROR service:shop")
    assert result["match_count"] == 10
    assert {message[:6] for message in messages(result)} == {"订单支付超时"}


async def test_a_topic_may_name_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_bytes(line(1, "ERROR Größe unzulässig").encode("latin-1"))
    result = await ask(file_tool(tmp_path, encoding="latin-1"), "GRÖSSE OR größe")
    assert messages(result) == ["Größe unzulässig"]


async def test_the_zone_of_a_topic_is_that_of_times_without_one(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("2024-01-02 19:59:00 INFO here\n2024-01-02T11:58:00Z INFO there\n")
    result = await ask(file_tool(tmp_path, zone="Asia/Shanghai"), "level:INFO")
    assert [event["timestamp"] for event in result["events"]] == [
        "2024-01-02T11:58:00.000Z",
        "2024-01-02T11:59:00.000Z",
    ]


STACKS = {
    "java": (
        "java.io.IOException: reset by peer\n\tat com.shop.Pay.pay(Pay.java:12)\n\t... 12 more\n"
        "Caused by: java.net.SocketException: Broken pipe\n\tat java.net.Socket.read(Socket.java:1)\n"
    ),
    "python": (
        'Traceback (most recent call last):\n  File "pay.py", line 3, in pay\n    read()\nOSError: reset by peer\n'
    ),
    "go": (
        "panic: reset by peer\n\ngoroutine 12 [running]:\nmain.pay(0x1)\n\t/app/main.go:12 +0x1\n"
        "created by main.main\n\t/app/main.go:3\nexit status 2\n"
    ),
    "node": "Error: reset by peer\n    at pay (/app/pay.js:12:3)\n    at async run (/app/run.js:1) {\n  code: 'E'\n}\n",
}


@pytest.mark.parametrize("language", STACKS)
async def test_stack_traces_belong_to_the_event_before_them(language: str, tmp_path: Path) -> None:
    text = line(3) + line(2, "ERROR [shop] payment failed") + STACKS[language] + line(1)
    for name, content in (("a.log", text), ("b.log", text.replace("\n", "\r\n"))):
        (tmp_path / name).write_bytes(content.encode())
        for query in ('"reset by peer"', 'failed "reset by peer" level:ERROR', "level:ERROR", "-paid"):
            result = await ask(file_tool(tmp_path / name), query)
            assert result["match_count"] == 1, query
            assert messages(result)[0].startswith("payment failed\n")
            assert messages(result)[0].endswith(STACKS[language].splitlines()[-1])


async def test_a_slow_query_is_one_event(tmp_path: Path) -> None:
    (tmp_path / "slow.log").write_text(
        "# Time: 2024-01-02T11:59:00.000000Z\n# User@Host: shop[shop] @ db [10.0.0.1]  Id: 7\n"
        "# Query_time: 12.5  Lock_time: 0.1 Rows_sent: 1  Rows_examined: 9000\nSET timestamp=1704196740;\n"
        "SELECT * FROM orders\nWHERE created_at > '2024-01-01 00:00:00'\nAND status = 'OPEN';\n"
    )
    result = await ask(file_tool(tmp_path), "query_time orders level:WARN service:slow")
    assert result["match_count"] == 1
    assert "status = 'OPEN'" in messages(result)[0]


async def test_lines_out_of_order_by_seconds_count(tmp_path: Path) -> None:
    dice = random.Random(2)
    times = [NOW - timedelta(seconds=0.1 * number + dice.uniform(-20, 20)) for number in range(60_000, 0, -1)]
    text = "".join(f"{at:%Y-%m-%d %H:%M:%S.%f} INFO [shop] paid a bill of some length {at:%f}\n" for at in times)
    (tmp_path / "app.log").write_text(text)
    expected = sum(NOW - timedelta(minutes=30) <= at <= NOW for at in times)
    result = await ask(file_tool(tmp_path), "paid")
    assert result["match_count"] == expected
    assert (await ask(file_tool(tmp_path), "level:INFO"))["match_count"] == expected


async def test_a_line_of_ten_megabytes_is_cut_and_said_so(tmp_path: Path) -> None:
    long = line(2, "ERROR [shop] " + "x" * 10_000_000 + " late")
    (tmp_path / "app.log").write_text(line(3) + long + line(1))
    everything = await ask(file_tool(tmp_path), "service:shop")
    assert (everything["match_count"], everything["truncated"]) == (3, True)
    beside = await ask(file_tool(tmp_path), "paid")
    assert (beside["match_count"], beside["truncated"]) == (2, False)
    inside = await ask(file_tool(tmp_path), "late")
    assert inside["truncated"] is True


async def test_a_line_without_any_end_is_cut(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line(3) + line(2, "y" * 3_000_000).rstrip("\n"))
    assert (await ask(file_tool(tmp_path), "paid"))["match_count"] == 1
    assert (await ask(file_tool(tmp_path), "yyyy"))["match_count"] == 1


async def test_the_hole_that_copytruncate_leaves_is_passed_over(tmp_path: Path) -> None:
    with (tmp_path / "app.log").open("wb") as file:
        file.seek(5_000_000)
        file.write(line(1).encode())
    assert (await ask(file_tool(tmp_path), "paid"))["match_count"] == 1
    assert (await ask(file_tool(tmp_path), "level:INFO"))["match_count"] == 1


EVENTS = st.lists(
    st.tuples(
        st.integers(-90, 3_000),
        st.sampled_from(["INFO", "WARN", "ERROR"]),
        st.sampled_from(["paid", "reset by peer", "订单超时", "PAID twice", "x" * 700]),
        st.sampled_from(["", "\tat Pay.java:1\n", "Caused by: reset by peer\n\tat X\n", "\n"]),
    ),
    max_size=120,
)


@settings(max_examples=60)
@given(
    events=EVENTS,
    query=st.sampled_from(
        ["paid", "reset", "订单", "level:ERROR", "-paid", "paid OR 订单", "level:WARN reset", "INFO"]
    ),
    piece=st.sampled_from([64, 700, 5_000, 1 << 19]),
    near=st.sampled_from([200, 64 * 1024]),
)
def test_any_file_counts_as_if_every_line_were_read(
    events: list[tuple[int, str, str, str]], query: str, piece: int, near: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    events = sorted(events, key=lambda each: -each[0])
    written = [
        (NOW - timedelta(seconds=ago), level, f"{level} [shop] {text}", more) for ago, level, text, more in events
    ]
    path = tmp_path_factory.mktemp("any") / "app.log"
    path.write_text("".join(f"{at:%Y-%m-%d %H:%M:%S} {text}\n{more}" for at, _, text, more in written) or "\n")
    expected = 0
    for at, level, text, more in written:
        lowered = f"{text}\n{more}".lower()
        if NOW - timedelta(minutes=30) <= at <= NOW:
            expected += {
                "paid": "paid" in lowered,
                "reset": "reset" in lowered,
                "订单": "订单" in lowered,
                "level:ERROR": level == "ERROR",
                "-paid": "paid" not in lowered,
                "paid OR 订单": "paid" in lowered or "订单" in lowered,
                "level:WARN reset": level == "WARN" and "reset" in lowered,
                "INFO": level == "INFO",
            }[query]
    if not events:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.tools.query_logs.reader._NEAR_BYTES", near)
        patch.setattr("harness.tools.query_logs.search._PIECES_BYTES", piece)
        patch.setattr("harness.tools.query_logs.search._MIN_PIECE_BYTES", 1)
        result = asyncio.run(ask(file_tool(path), query))
    assert result["match_count"] == expected


async def test_a_folder_of_samples_holds_their_lines_only_once() -> None:
    tool = file_tool(DATA / "OpenSSH", clock=lambda: datetime(2015, 12, 10, 11, 5, tzinfo=UTC))
    result = await ask(tool, "sshd", 1440)
    assert result["match_count"] == 2_000


async def test_more_files_than_are_opened_at_once_all_count(tmp_path: Path) -> None:
    for number in range(230):
        (tmp_path / f"{number}.log").write_text(line(number / 10))
    result = await ask(file_tool(tmp_path), "paid")
    assert (result["match_count"], result["returned_count"]) == (230, 30)
