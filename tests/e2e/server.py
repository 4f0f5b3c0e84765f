"""A served process: Daphne with the product in it, on the services of this test session."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60.0
STOP_SECONDS = 60.0


@dataclass(frozen=True)
class Server:
    url: str
    process: subprocess.Popen[bytes]
    log: Path
    """Everything that the process said, at DEBUG."""

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def connections(self, port: int) -> int:
        """How many connections the process holds to this port of the loopback interface."""
        held = psutil.Process(self.process.pid).net_connections("tcp")
        return sum(1 for each in held if each.raddr and each.raddr.port == port and each.status == "ESTABLISHED")


@contextmanager
def serve(log: Path, environment: Mapping[str, str]) -> Iterator[Server]:
    """A process with these variables on top of the test session's own, ready to answer; it ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "superbiz.asgi:application"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, cwd=ROOT, stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
    try:
        server = Server(f"http://127.0.0.1:{port}", process, log)
        _wait_until_ready(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(server: Server) -> None:
    until = time.monotonic() + START_SECONDS
    with httpx.Client(trust_env=False, timeout=10) as client:
        while time.monotonic() < until and server.process.poll() is None:
            try:
                if client.get(f"{server.url}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
    raise RuntimeError(f"the server did not get ready:\n{server.log.read_text()[-4000:]}")
