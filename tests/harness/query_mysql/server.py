"""A private MariaDB that a test may stop and start, and the ways in which the tests ask it."""

import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import MySQLdb
from MySQLdb.connections import Connection

STARTUP_SECONDS = 60


class MariaServer:
    """One `mariadbd` on a socket; `start` and `stop` are for one of the test's own, below `directory`."""

    def __init__(self, directory: Path, socket: Path | None = None) -> None:
        self.directory = directory
        self.socket = socket or directory / "s.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def install(self) -> None:
        tool = shutil.which("mariadb-install-db")
        assert tool is not None, "mariadb-install-db is missing: apt-get install mariadb-server-core"
        subprocess.run(
            [
                tool, "--no-defaults", f"--datadir={self.directory / 'data'}", "--user=root", "--skip-test-db",
                "--auth-root-authentication-method=normal",
            ],
            check=True, capture_output=True,
        )  # fmt: skip

    def start(self) -> None:
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.directory / 'data'}", "--user=root",
                    f"--socket={self.socket}", "--skip-networking", f"--pid-file={self.directory / 'pid'}",
                    "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0",
                ],
                stdout=log, stderr=log,
            )  # fmt: skip
        deadline = time.monotonic() + STARTUP_SECONDS
        while True:
            try:
                self.connect("root").close()
            except MySQLdb.Error:
                said = (self.directory / "log").read_text(errors="replace")
                assert self._process.poll() is None, said
                assert time.monotonic() < deadline, said
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)
            self._process = None

    def connect(self, user: str, password: str = "", database: str = "", sql_mode: str = "") -> Connection:
        return MySQLdb.connect(
            unix_socket=str(self.socket), user=user, password=password, database=database, charset="utf8mb4",
            sql_mode=sql_mode, autocommit=True,
        )  # fmt: skip

    def load(self, script: Path) -> None:
        with script.open("rb") as text:
            subprocess.run(
                ["mariadb", "--no-defaults", "--default-character-set=utf8mb4", "-uroot", f"-S{self.socket}"],
                stdin=text, check=True,
            )  # fmt: skip

    def admin(self, sql: str) -> Sequence[tuple[Any, ...]]:
        """Run one statement as root."""
        connection = self.connect("root")
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
                return rows
        finally:
            connection.close()

    def url(self, user: str = "guard_ro", password: str = "guard_ro") -> str:
        return f"mysql://{user}:{password}@localhost/?unix_socket={self.socket}"


def prepared(connection: Connection, sql: str, params: Sequence[object]) -> list[tuple[Any, ...]]:
    """Run a statement through the server's own prepared statements."""
    with connection.cursor() as cursor:
        cursor.execute("SET @statement = %s", [sql])
        for number, value in enumerate(params):
            cursor.execute(f"SET @p{number} = %s", [value])
        cursor.execute("PREPARE judged FROM @statement")
        using = ", ".join(f"@p{number}" for number in range(len(params)))
        cursor.execute(f"EXECUTE judged USING {using}" if params else "EXECUTE judged")
        return list(cursor.fetchall())
