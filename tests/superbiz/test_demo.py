"""The demo as a person runs it: starts, answers, describes itself, stops without leaving anything behind."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from superbiz.demo.services import Services

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.endswith(("_URL", "SETTINGS_MODULE")) and name != "SECRET_KEY"
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(directory: Path, port: int) -> subprocess.Popen[str]:
    command = [sys.executable, "manage.py", "demo", "--port", str(port), "--dir", str(directory)]
    return subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def description(directory: Path, process: subprocess.Popen[str]) -> dict[str, Any]:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        if (directory / "demo.json").exists():
            time.sleep(0.1)
            described: dict[str, Any] = json.loads((directory / "demo.json").read_text())
            return described
        time.sleep(0.1)
    raise AssertionError(process.communicate()[0] if process.poll() is not None else "it did not get ready")


def left_over(directory: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = " ".join(process.info["cmdline"] or [])
        if str(directory) in command and process.pid != os.getpid():
            found.append(command)
    return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.Popen[str], dict[str, Any]]]:
    directory = tmp_path_factory.mktemp("demo")
    process = start(directory, free_port())
    try:
        yield directory, process, description(directory, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
        assert left_over(directory) == []


def test_it_describes_itself_for_scripts_alone(demo: tuple[Path, subprocess.Popen[str], dict[str, Any]]) -> None:
    directory, _, described = demo
    assert set(described) == {
        "url",
        "accounts",
        "harness_redis_admin_url",
        "database_url",
        "mysql_admin_socket",
        "pids",
    }
    assert set(described["accounts"]) == {"demo", "other", "auditor", "reasoning", "editor", "admin"}
    assert all(set(account) == {"username", "password", "token"} for account in described["accounts"].values())
    assert set(described["pids"]) == {"web", "worker", "beat"}
    assert stat.S_IMODE((directory / "demo.json").stat().st_mode) == 0o600
    assert all(psutil.pid_exists(pid) for pid in described["pids"].values())


def test_it_answers_from_all_three_tools_and_says_that_a_demo_model_wrote_it(
    demo: tuple[Path, subprocess.Popen[str], dict[str, Any]],
) -> None:
    directory, _, _ = demo
    command = [sys.executable, "manage.py", "ask", "--dir", str(directory), "订单支付超时，帮我排查"]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("HikariPool", "支付超时排查手册", "order_readonly", "MOCK", "演示模型", "R1"):
        assert words in done.stdout
    assert "s3cr3t" not in done.stdout


def test_an_upload_is_read_by_the_worker(demo: tuple[Path, subprocess.Popen[str], dict[str, Any]]) -> None:
    _, _, described = demo
    headers = {"Authorization": f"Token {described['accounts']['editor']['token']}"}
    with httpx.Client(base_url=described["url"], headers=headers, trust_env=False, timeout=30) as client:
        file = {"file": ("zebra-guide.md", "# 斑马网关\n\n斑马网关的错误码 ERR_ZEBRA_77 表示条纹不足。".encode())}
        sent = client.post("/api/documents", files=file)
        assert (sent.status_code, sent.json()["status"]) == (202, "PENDING")
        until = time.monotonic() + 60
        while client.get("/api/documents/zebra-guide").json()["status"] == "PENDING" and time.monotonic() < until:
            time.sleep(0.2)
        found = client.get("/api/retrieval", params={"query": "ERR_ZEBRA_77"}).json()["results"]
        assert found[0]["document_id"] == "zebra-guide"
        assert client.delete("/api/documents/zebra-guide").status_code == 204


def test_a_second_demo_in_the_same_folder_or_on_the_same_port_is_refused(
    demo: tuple[Path, subprocess.Popen[str], dict[str, Any]], tmp_path: Path
) -> None:
    directory, _, described = demo
    port = int(described["url"].rsplit(":", 1)[1])
    for process, says in ((start(directory, free_port()), "already"), (start(tmp_path, port), f"PORT={port + 1}")):
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 1
        assert says in said


def test_a_killed_demo_starts_again_with_its_accounts(tmp_path: Path) -> None:
    port = free_port()
    first = start(tmp_path, port)
    before = description(tmp_path, first)
    first.kill()
    first.wait()
    (tmp_path / "demo.json").unlink()
    second = start(tmp_path, port)
    after = description(tmp_path, second)
    assert after["accounts"] == before["accounts"]
    stopped = subprocess.run(
        [sys.executable, "manage.py", "demo", "--stop", "--dir", str(tmp_path)], cwd=ROOT, env=ENVIRONMENT, check=False
    )
    assert stopped.returncode == 0
    second.wait(90)
    assert not (tmp_path / "demo.json").exists()
    assert left_over(tmp_path) == []


def test_services_of_two_folders_do_not_meet(services: Services, tmp_path: Path) -> None:
    other = Services(tmp_path)
    other.start()
    try:
        assert other.endpoints.database_url != services.endpoints.database_url
        import psycopg

        with psycopg.connect(other.endpoints.database_url) as connection:
            assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
    finally:
        other.stop()
    assert left_over(tmp_path) == []
