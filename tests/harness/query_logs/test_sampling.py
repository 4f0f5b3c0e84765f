"""What is kept of many events: exact counts, and the events that tell most."""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from tests.harness.query_logs.asking import NOW, ask, ask_both, file_tool


def line(seconds_ago: float, text: str) -> str:
    return f"{(NOW - timedelta(seconds=seconds_ago)):%Y-%m-%d %H:%M:%S.%f} {text}\n"


async def test_one_rare_error_among_a_hundred_thousand_lines_is_shown(tmp_path: Path) -> None:
    lines = [
        line(1_700 - number / 100, f"INFO [shop] order {number} paid in {number % 97} ms") for number in range(100_000)
    ]
    lines.insert(61_803, line(1_700 - 618.03, "ERROR [shop] stock of sku-77 is negative"))
    (tmp_path / "app.log").write_text("".join(lines))
    result = await ask(file_tool(tmp_path), "shop")
    assert result["match_count"] == 100_001
    assert [(pattern["count"], pattern["level"]) for pattern in result["patterns"]] == [(100_000, "INFO"), (1, "ERROR")]
    shown = [event["message"] for event in result["events"]]
    assert "stock of sku-77 is negative" in shown
    assert shown[0].startswith("order 0 paid")
    assert shown[-1].startswith("order 99999 paid")
    assert result["returned_count"] == len(shown) == 30
    assert [event["timestamp"] for event in result["events"]] == sorted(
        event["timestamp"] for event in result["events"]
    )
    assert result["truncated"] is True


async def test_a_rare_info_line_is_shown_beside_a_hundred_kinds_of_errors(tmp_path: Path) -> None:
    words = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe", "ra", "so", "tu", "we", "zi") for b in "bcdfghklmn"]
    lines = [
        line(1_000 - 4 * place - number, f"ERROR [shop] {word} {words[-place]} {words[place // 2]} broke")
        for place, word in enumerate(words)
        for number in range(3)
    ]
    lines.append(line(500, "INFO [shop] configuration was changed"))
    (tmp_path / "app.log").write_text("".join(sorted(lines)))
    result = await ask(file_tool(tmp_path), "shop")
    assert "configuration was changed" in [event["message"] for event in result["events"]]
    assert len(result["patterns"]) == 20
    assert result["truncated"] is True


async def test_where_the_level_changes_is_shown(tmp_path: Path) -> None:
    levels = ["INFO"] * 400 + ["WARN"] * 300 + ["ERROR"] * 300 + ["INFO"] * 400
    lines = [line(1_500 - number, f"{level} [shop] state {number}") for number, level in enumerate(levels)]
    (tmp_path / "app.log").write_text("".join(lines))
    result = await ask(file_tool(tmp_path), "state")
    shown = {event["message"] for event in result["events"]}
    assert {"state 0", "state 400", "state 700", "state 1000", "state 1399"} <= shown


async def test_everything_is_shown_where_it_fits(tmp_path: Path) -> None:
    lines = [line(100 - number, f"INFO [shop] {word} done") for number, word in enumerate(("first", "second"))]
    (tmp_path / "app.log").write_text("".join(lines))
    result = await ask(file_tool(tmp_path), "done")
    assert [event["message"] for event in result["events"]] == ["first done", "second done"]
    assert result["truncated"] is False


async def test_patterns_are_kept_apart_by_level_and_service(tmp_path: Path) -> None:
    lines = [line(9, "INFO [shop] ready"), line(8, "WARN [shop] ready"), line(7, "INFO [pay-2] ready")]
    (tmp_path / "app.log").write_text("".join([*lines, line(6, "INFO [pay-3] ready")]))
    result = await ask(file_tool(tmp_path), "ready")
    found = {(pattern["level"], pattern["service"], pattern["count"]) for pattern in result["patterns"]}
    assert found == {("INFO", "shop", 1), ("WARN", "shop", 1), ("INFO", "pay-2", 1), ("INFO", "pay-3", 1)}


async def test_patterns_say_when_they_were_first_and_last_seen(tmp_path: Path) -> None:
    for name, agos in (("a", (50, 10)), ("b", (90, 20)), ("c", (30, 5))):
        text = "".join(line(ago, f"INFO [shop] paid {ago}") for ago in agos)
        (tmp_path / f"{name}.log").write_text(text)
    (pattern,) = (await ask(file_tool(tmp_path), "paid"))["patterns"]
    assert pattern == {
        "count": 6,
        "first_seen": "2024-01-02T11:58:30.000Z",
        "last_seen": "2024-01-02T11:59:55.000Z",
        "level": "INFO",
        "service": "shop",
        "example": "paid 90",
    }


@pytest.mark.parametrize("words", [3, 8])
async def test_free_text_stays_within_bounds_and_is_counted(words: int, tmp_path: Path) -> None:
    dice = random.Random(words)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    lines = [
        line(
            1_700 - number / 10,
            f"{dice.choice(['INFO', 'WARN'])} [shop] "
            + " ".join("".join(dice.choices(syllables, k=3)) for _ in range(words)),
        )
        for number in range(8_000)
    ]
    lines.append(line(1, "ERROR [shop] the one that matters"))
    (tmp_path / "app.log").write_text("".join(lines))
    raw, result = await ask_both(file_tool(tmp_path), "shop")
    assert result["match_count"] == 8_001
    assert result["truncated"] is True
    assert "the one that matters" in [event["message"] for event in result["events"]]
    assert Counter(len(raw[name]) for name in ("patterns", "events")) == Counter((20, 30))
