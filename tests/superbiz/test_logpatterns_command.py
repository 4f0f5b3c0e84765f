"""`manage.py logpatterns`: a filter for log lines that needs no service."""

import json
import subprocess
import sys
from pathlib import Path

from tests.harness.query_logs.asking import sample
from tests.harness.query_logs.grouping import grouping_accuracy, truth

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, lines: bytes, code: int = 0) -> str:
    command = [sys.executable, "manage.py", "logpatterns", *arguments]
    done = subprocess.run(command, input=lines, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == code, done.stderr.decode()
    return (done.stdout if code == 0 else done.stderr).decode()


def test_patterns_come_as_json_lines_most_frequent_first() -> None:
    lines = sample("Apache").read_bytes()
    patterns = [json.loads(line) for line in run("--jsonl", lines=lines).splitlines()]
    assert [list(pattern) for pattern in patterns] == [["pattern_id", "count", "level", "template", "example"]] * 6
    assert [pattern["count"] for pattern in patterns] == [836, 569, 539, 32, 12, 12]
    assert patterns[0]["level"] == "NOTICE"
    assert patterns[0]["example"] in lines.decode()
    assert len({pattern["pattern_id"] for pattern in patterns}) == 6


def test_each_line_is_assigned_the_id_of_a_pattern() -> None:
    lines = sample("OpenSSH").read_bytes()
    assigned = run("--assign", lines=lines).splitlines()
    known = {json.loads(line)["pattern_id"] for line in run("--jsonl", lines=lines).splitlines()}
    assert len(assigned) == 2_000
    assert set(assigned) == known
    assert grouping_accuracy(assigned, truth("OpenSSH").events) >= 0.99


def test_lines_of_any_kind_are_assigned_too() -> None:
    odd = [b"", b"\xff\xfe\x00", b"  indented", "订单 7 超时".encode(), b"x" * 100_000, b"no end"]
    assert len(run("--assign", lines=b"\r\n".join(odd)).splitlines()) == len(odd)


def test_people_get_a_table() -> None:
    text = run("--top", "2", lines=b"2024-01-02 10:00:00 ERROR pool at 7\n" * 3 + b"ready\nsteady\n")
    first, second = text.splitlines()
    assert first.split()[:2] == ["3", "ERROR"]
    assert first.endswith("pool at <*>")
    assert second.split()[:2] == ["1", "-"]


def test_nothing_in_is_nothing_out() -> None:
    assert run(lines=b"") == run("--jsonl", lines=b"") == run("--assign", lines=b"") == ""


def test_options_that_make_no_sense_are_refused() -> None:
    assert "at least 1" in run("--top", "0", lines=b"", code=1)
    assert "one id for each line" in run("--assign", "--jsonl", lines=b"", code=1)


def test_it_needs_no_service_and_imports_no_model_library() -> None:
    code = (
        "import sys; from django.core.management import execute_from_command_line as run;"
        "run(['manage.py', 'logpatterns']);"
        "sys.exit(','.join(name for name in ('litellm', 'pydantic_ai') if name in sys.modules) or 0)"
    )
    environment = {
        "DJANGO_SETTINGS_MODULE": "superbiz.settings",
        "PATH": "",
        "DATABASE_URL": "postgresql://no@127.0.0.1:1/x",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"ready\n", cwd=ROOT, capture_output=True, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, b"")
