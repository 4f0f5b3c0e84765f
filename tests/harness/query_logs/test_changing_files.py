"""Files that are rotated, truncated, deleted or written while they are searched."""

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from harness.tools.query_logs import files, scan
from tests.harness.query_logs.asking import ask, file_tool, line


class TestWhileFilesChange:
    """The change happens between two pieces of the first file that is read."""

    @pytest.fixture
    def change(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        def arrange(act: Any) -> None:
            original = scan.Scan._kept
            done: list[bool] = []

            def kept(self: scan.Scan, piece: bytes) -> bytes:
                if not done:
                    done.append(True)
                    act()
                return original(self, piece)

            monkeypatch.setattr(scan.Scan, "_kept", kept)

        return arrange

    @pytest.fixture
    def log(self, tmp_path: Path) -> Path:
        path = tmp_path / "app.log"
        path.write_text("".join(line(20 - number / 2_000, f"INFO paid {'z' * 100}") for number in range(20_000)))
        return path

    async def test_a_rotated_file_is_read_to_its_end(self, log: Path, change: Any) -> None:
        change(lambda: (log.rename(log.with_name("app.log.1")), log.write_text(line(0.5))))
        result = await ask(file_tool(log.parent), "paid")
        assert result["match_count"] in (20_000, 20_001)

    async def test_a_truncated_file_ends_early(self, log: Path, change: Any) -> None:
        change(lambda: os.truncate(log, 0))
        result = await ask(file_tool(log.parent), "paid")
        assert 0 < result["match_count"] < 20_000
        assert result["truncated"] is True

    async def test_a_file_that_is_copied_and_truncated_counts_once(self, log: Path, change: Any) -> None:
        def copy() -> None:
            log.with_name("app.log.1").write_bytes(log.read_bytes())
            os.truncate(log, 0)

        change(copy)
        assert 0 < (await ask(file_tool(log.parent), "paid"))["match_count"] < 20_000

    async def test_a_deleted_file_is_read_to_its_end(self, log: Path, change: Any) -> None:
        change(log.unlink)
        assert (await ask(file_tool(log.parent), "paid"))["match_count"] == 20_000

    async def test_a_file_that_is_packed_meanwhile_counts_once(self, log: Path, change: Any) -> None:
        def pack() -> None:
            log.with_name("app.log.gz").write_bytes(gzip.compress(log.read_bytes()))
            log.unlink()

        change(pack)
        assert (await ask(file_tool(log.parent), "paid"))["match_count"] == 20_000

    async def test_lines_that_are_appended_meanwhile_do_no_harm(self, log: Path, change: Any) -> None:
        def append() -> None:
            with log.open("a") as file:
                file.write(line(0.1) + line(0)[:30])

        change(append)
        result = await ask(file_tool(log.parent), "paid")
        assert result["match_count"] == 20_001


class TestWhileFilesAreOpened:
    """The change happens between listing the files and opening the first."""

    @pytest.fixture
    def change(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        def arrange(act: Any) -> None:
            original = files.TopicFiles._open
            done: list[bool] = []

            def opened(self: files.TopicFiles, path: Path) -> Any:
                if not done:
                    done.append(True)
                    act()
                return original(self, path)

            monkeypatch.setattr(files.TopicFiles, "_open", opened)

        return arrange

    async def test_a_renamed_file_is_found_again(self, tmp_path: Path, change: Any) -> None:
        log = tmp_path / "app.log"
        log.write_text(line(2) + line(1))
        change(lambda: (log.rename(tmp_path / "app.log.1"), log.write_text(line(0))))
        result = await ask(file_tool(tmp_path), "paid")
        assert (result["match_count"], result["truncated"]) == (3, False)

    async def test_a_file_that_is_packed_before_its_turn_is_missed_and_said_so(
        self, tmp_path: Path, change: Any
    ) -> None:
        log = tmp_path / "app.log.1"
        log.write_text(line(2) + line(1))
        (tmp_path / "app.log").write_text(line(0))

        def pack() -> None:
            log.with_name("app.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
            log.unlink()

        change(pack)
        result = await ask(file_tool(tmp_path), "paid")
        assert (result["match_count"], result["truncated"]) == (1, True)
