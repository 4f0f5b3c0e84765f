"""What a 30-minute window of a 2 GB log file costs in time and memory, and how soon a search ends on cancel.

Run: `.venv/bin/python -m benchmarks.logwindow [gigabytes]`. The file (OpenSSH's style, one day long, its last line is
now) is made in a temporary folder and deleted at the end. Each search runs in a process of its own; memory is how far
its peak rises above what it needs before it begins. Beside each time stands how long reading the whole file takes, in
the same run. Goals: below one second, at most 64 MiB, cancelled within 200 ms, the event loop held for a moment only.
"""

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.harness.query_logs.asking import ask, file_tool
from tests.harness.runs import run_context

DAY_SECONDS = 86_400
WINDOW_MINUTES = 30
_LINE = (
    "{time} gateway-1 sshd[{pid}]: Failed password for invalid user user{pid} from 10.0.{low}.{high} port {pid} ssh2\n"
)
_RARE = "{time} gateway-1 order-service[77]: ERROR pool exhausted, waiting={pid}\n"
_SEARCHES = ("pool exhausted", "level:ERROR", "-nothing", "sshd", "no-such-word-anywhere")


def main() -> None:
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 2
    end = datetime.now(UTC).replace(microsecond=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "auth.log")
        lines = _write(path, int(gigabytes * (1 << 30)), end)
        whole = _reading(path)
        print(f"{path.stat().st_size / (1 << 30):.2f} GiB, {lines:,} lines; reading it all takes {whole:.2f} s")
        print(f"{'query':<24}{'matches':>10}{'seconds':>9}{'/ reading all':>15}{'MiB':>7}{'truncated':>11}")
        for query in _SEARCHES:
            matches, truncated, seconds, mebibytes = _apart(_search, path, query, end)
            print(f"{query:<24}{matches:>10,}{seconds:>9.3f}{seconds / whole:>15.3f}{mebibytes:>7.1f}{truncated!s:>11}")
        cancelled, held = _apart(_cancel, path, "-nothing", end)
        print(
            f"cancelled while reading everything: over after {cancelled * 1e3:.0f} ms; the event loop was held for at"
            f" most {held * 1e3:.0f} ms"
        )


def _write(path: Path, size: int, end: datetime) -> int:
    """Lines spread evenly over the day before `end`; one in 10,000 is rare."""
    line_bytes = len(_filled(_LINE, end, 12_345))
    per_second = max(1, size // line_bytes // DAY_SECONDS)
    with path.open("wb", buffering=1 << 20) as file:
        for second in range(DAY_SECONDS):
            at = end - timedelta(seconds=DAY_SECONDS - 1 - second)
            file.writelines(_second(at, second * per_second, per_second))
    return per_second * DAY_SECONDS


def _second(at: datetime, first: int, count: int) -> Iterator[bytes]:
    for number in range(first, first + count):
        yield _filled(_RARE if number % 10_000 == 0 else _LINE, at, 10_000 + number % 50_000)


def _filled(line: str, at: datetime, number: int) -> bytes:
    time_text = at.strftime("%b %d %H:%M:%S")
    return line.format(time=time_text, pid=number, low=number % 256, high=number // 256 % 256).encode()


def _reading(path: Path) -> float:
    start = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return time.perf_counter() - start


def _apart(work: Any, *arguments: Any) -> Any:
    """The result of `work` in a fresh process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def _search(path: Path, query: str, end: datetime) -> tuple[int, bool, float, float]:
    _warm_up(path)
    before = _peak_mebibytes()
    start = time.perf_counter()
    result = asyncio.run(ask(file_tool(path, clock=lambda: end), query, WINDOW_MINUTES))
    seconds = time.perf_counter() - start
    return result["match_count"], result["truncated"], seconds, _peak_mebibytes() - before


def _cancel(path: Path, query: str, end: datetime) -> tuple[float, float]:
    """Seconds until a cancelled search is over, and the longest that the event loop was held meanwhile."""
    _warm_up(path)
    return asyncio.run(_cancelled(path, query, end))


async def _cancelled(path: Path, query: str, end: datetime) -> tuple[float, float]:
    tool = file_tool(path, clock=lambda: end)
    arguments = tool.arguments.model_validate_json(
        f'{{"topic": "APPLICATION", "query": "{query}", "lookback_minutes": 1440}}'
    )
    running = asyncio.create_task(tool.run(run_context()[0], arguments))
    held = 0.0
    until = time.perf_counter() + 2
    while (before := time.perf_counter()) < until:
        await asyncio.sleep(0.005)
        held = max(held, time.perf_counter() - before - 0.005)
    start = time.perf_counter()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    tool.close()
    return time.perf_counter() - start, held


def _warm_up(path: Path) -> None:
    """Import and compile everything on a file that holds nothing of the window."""
    asyncio.run(ask(file_tool(path, clock=lambda: datetime(2000, 1, 1, tzinfo=UTC)), "warm", 1))


def _peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
