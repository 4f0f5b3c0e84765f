"""Asking query_logs as the boundary does: run, then project."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness.tools.query_logs.config import LogToolsSettings, TopicSettings
from harness.tools.query_logs.tool import LogsTool, utc_now
from tests.harness.runs import run_context

DATA = Path(__file__).resolve().parents[2] / "data" / "logs"
NOW = datetime(2024, 1, 2, 12, tzinfo=UTC)
SYSTEMS = ("Apache", "HDFS", "OpenSSH", "Spark")


def sample(system: str) -> Path:
    return DATA / system / f"{system}_2k.log"


def line(minutes_ago: float, text: str = "INFO [shop] paid") -> str:
    """A line of a log, written so long before `NOW`."""
    return f"{(NOW - timedelta(minutes=minutes_ago)):%Y-%m-%d %H:%M:%S}.000 {text}\n"


def file_tool(
    *paths: Path | str,
    clock: Callable[[], datetime] = lambda: NOW,
    timeout: float = 10,
    limits: Any = None,
    **topic: Any,
) -> LogsTool:
    """A tool whose topic APPLICATION are the files of `paths`."""
    settings = TopicSettings(source="FILE", paths=tuple(map(str, paths)), **topic)
    return LogsTool(LogToolsSettings(topics={"APPLICATION": settings}, **(limits or {})), timeout, clock)


def mock_tool(clock: Callable[[], datetime] = utc_now) -> LogsTool:
    return LogsTool(LogToolsSettings(), 10, clock)


async def ask(tool: LogsTool, query: str, minutes: int = 30, topic: str = "APPLICATION") -> dict[str, Any]:
    """The projection. Raises ToolCallError."""
    raw, result = await ask_both(tool, query, minutes, topic)
    assert len(json.dumps(raw).encode()) < 1 << 20
    return result


async def ask_both(
    tool: LogsTool, query: str, minutes: int = 30, topic: str = "APPLICATION"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The raw response and the projection."""
    text = json.dumps({"topic": topic, "query": query, "lookback_minutes": minutes})
    arguments = tool.arguments.model_validate_json(text)
    try:
        raw = await tool.run(run_context()[0], arguments)
    finally:
        tool.close()
    stored = json.loads(json.dumps(raw, allow_nan=False))  # as the record keeps it
    return stored, tool.project(stored, arguments, "call_1")
