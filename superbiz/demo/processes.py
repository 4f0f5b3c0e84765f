"""The demo's own processes, Daphne, a Celery worker and beat, and the order in which all starts and stops."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil
from cryptography.fernet import Fernet

from superbiz.demo.services import Services
from superbiz.demo.shop import load_shop, settings_file

READY_SECONDS = 60.0
STOP_SECONDS = 45.0  # above the time that running runs get to finish
ROOT = Path(__file__).resolve().parent.parent.parent

Say = Callable[[str], None]


class DemoError(Exception):
    """The demo cannot start or went down. The message says what to do."""


class Demo:
    """One demo in one directory."""

    def __init__(self, directory: Path, port: int, say: Say) -> None:
        self.directory = directory.resolve()
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._say = say
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self) -> None:
        """Start everything, stay until SIGINT or SIGTERM, stop everything. Raises `DemoError`."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._only_one(), _signals_end_us():
            self._free_port()
            services = Services(self.directory)
            try:
                services.start(lambda name: self._say(f"starting {name}"))
                environment = self._environment(services)
                self._say("loading tables, accounts and runbooks")
                self._load(environment)
                self._say("starting web server, worker and beat")
                self._start(environment)
                accounts = self._write_description(services)
                self._greet(accounts)
                self._watch()
            except KeyboardInterrupt:
                self._say("stopping")
            finally:
                self._stop()
                services.stop()
                (self.directory / "demo.json").unlink(missing_ok=True)

    @contextmanager
    def _only_one(self) -> Iterator[None]:
        """One demo a directory; what a killed one left running is ended."""
        pidfile = self.directory / "demo.pid"
        if running_pid(self.directory) is not None:
            raise DemoError(f"A demo runs in {self.directory} already. Stop it with `make demo-stop`.")
        left = self.directory / "pids.json"
        with suppress(FileNotFoundError, ValueError):
            for pid in json.loads(left.read_text()).values():
                _end_stale(pid)
        pidfile.write_text(str(os.getpid()))
        try:
            yield
        finally:
            pidfile.unlink(missing_ok=True)
            left.unlink(missing_ok=True)

    def _free_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                raise DemoError(
                    f"Port {self.port} is taken. Choose another: `make demo PORT={self.port + 1}`."
                ) from None

    def _environment(self, services: Services) -> dict[str, str]:
        endpoints = services.endpoints
        shop_url = load_shop(endpoints.mariadb_socket, endpoints.mariadb_port, datetime.now(UTC).replace(tzinfo=None))
        config = self.directory / "superbiz.toml"
        config.write_text(settings_file())
        kept = _kept_secrets(self.directory / "secrets.json")
        ours = {
            "DATABASE_URL": endpoints.database_url,
            "REDIS_URL": endpoints.redis_url,
            "HARNESS_REDIS_URL": endpoints.harness_redis_url,
            "CELERY_BROKER_URL": endpoints.redis_url,
            "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
            "ORDER_MYSQL_URL": shop_url,
            "DJANGO_SETTINGS_MODULE": "superbiz.settings",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "PYTHONPATH": str(ROOT),
        }
        # What the caller set for us goes first, so that several demos with other models can run side by side.
        return {"SUPERBIZ_CONFIG": str(config), **kept, **os.environ, **ours}

    def _load(self, environment: Mapping[str, str]) -> None:
        log = self.directory / "load.log"
        with log.open("wb") as output:
            done = subprocess.run(
                [sys.executable, "-m", "superbiz.demo.load", str(self.directory / "accounts.json")],
                env=dict(environment),
                cwd=ROOT,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        if done.returncode != 0:
            raise DemoError(f"The sample data could not be loaded; see {log}.")

    def _start(self, environment: Mapping[str, str]) -> None:
        python = sys.executable
        celery = [python, "-m", "celery", "--app", "superbiz"]
        web = ["-b", "127.0.0.1", "-p", str(self.port), "--no-server-name", "superbiz.asgi:application"]
        self._spawn("web", [python, "-m", "daphne", *web], environment)
        worker = ["worker", "--pool", "threads", "--concurrency", "1", "--loglevel", "WARNING"]
        self._spawn("worker", [*celery, *worker, "--without-mingle", "--without-gossip"], environment)
        schedule = ["--schedule", str(self.directory / "beat"), "--pidfile", ""]
        self._spawn("beat", [*celery, "beat", "--loglevel", "WARNING", *schedule], environment)
        (self.directory / "pids.json").write_text(json.dumps(self._pids()))
        until = time.monotonic() + READY_SECONDS
        while not self._ready():
            self._check()
            if time.monotonic() > until:
                raise DemoError(f"The server did not get ready; see {self.directory / 'web.log'}.")
            time.sleep(0.1)

    def _spawn(self, name: str, command: list[str], environment: Mapping[str, str]) -> None:
        with (self.directory / f"{name}.log").open("ab") as output:
            self._processes[name] = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=ROOT,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches only us, and we stop them in order
            )

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:  # noqa: S310 - our own address
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def _check(self) -> None:
        for name, process in self._processes.items():
            if process.poll() is not None:
                log = self.directory / f"{name}.log"
                raise DemoError(f"The {name} process ended with code {process.returncode}; see {log}.")

    def _write_description(self, services: Services) -> dict[str, dict[str, str]]:
        accounts: dict[str, dict[str, str]] = json.loads((self.directory / "accounts.json").read_text())
        path = self.directory / "demo.json"
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(
            json.dumps(
                {
                    "url": self.url,
                    "accounts": accounts,
                    "harness_redis_admin_url": services.endpoints.redis_url,
                    "database_url": services.endpoints.database_url,
                    "mysql_admin_socket": str(services.endpoints.mariadb_socket),
                    "pids": self._pids(),
                },
                indent=2,
            )
        )
        return accounts

    def _pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self._processes.items()}

    def _greet(self, accounts: Mapping[str, Mapping[str, str]]) -> None:
        self._say(f"ready: {self.url}")
        for name, account in accounts.items():
            self._say(f"  {name:<10} password {account['password']}")
        self._say('ask in the browser, or: make ask Q="订单支付超时，帮我排查"')
        self._say("audit as auditor or admin at /admin/; Ctrl-C stops everything")

    def _watch(self) -> None:
        while True:
            self._check()
            time.sleep(0.5)

    def _stop(self) -> None:
        for process in self._processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS
        for process in self._processes.values():
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def running_pid(directory: Path) -> int | None:
    """The process of the demo in `directory`, if it runs."""
    try:
        pid = int((directory / "demo.pid").read_text())
        command = psutil.Process(pid).cmdline()
    except (FileNotFoundError, ValueError, psutil.Error):
        return None
    return pid if "demo" in command else None


def stop(directory: Path) -> bool:
    """Stop the demo in `directory` and wait for its end. False if none runs."""
    pid = running_pid(directory)
    if pid is None:
        return False
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        # A process that nobody has waited for yet is a zombie: it has ended all the same.
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.1)
    return True


@contextmanager
def _signals_end_us() -> Iterator[None]:
    """SIGTERM ends us as Ctrl-C does; a second signal does not interrupt the stopping."""
    caught = False

    def on_signal(number: int, frame: object) -> None:
        nonlocal caught
        if not caught:
            caught = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _kept_secrets(path: Path) -> dict[str, str]:
    if not path.exists():
        path.touch(mode=0o600)
        made = {"SECRET_KEY": secrets.token_urlsafe(48), "SUPERBIZ_REASONING_KEYS": Fernet.generate_key().decode()}
        path.write_text(json.dumps(made))
    kept: dict[str, str] = json.loads(path.read_text())
    return kept


def _end_stale(pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if any("superbiz" in part for part in process.cmdline()):
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except psutil.TimeoutExpired:
                process.kill()
