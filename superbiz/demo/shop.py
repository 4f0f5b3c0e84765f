"""The demo's business database: a shop whose payments time out since three quarters of an hour.

`order_db` on the private MariaDB, some 20,000 orders of the last day. Times follow the clock: each start shifts
them so that the incident is still going on. All data is made up.
"""

import random
import secrets
from datetime import datetime, timedelta
from pathlib import Path

import MySQLdb
from MySQLdb.cursors import Cursor

ORDERS = 20_000
INCIDENT_MINUTES = 45
ACCOUNT = "superbiz_ro"
ALLOWED = {
    "biz_order": ("order_id", "user_id", "payment_status", "created_at", "updated_at"),
    "payment_record": ("payment_id", "order_id", "channel", "status", "created_at", "updated_at"),
}

_SCHEMA = """
CREATE DATABASE order_db CHARACTER SET utf8mb4;
CREATE TABLE order_db.biz_order (
  order_id VARCHAR(32) PRIMARY KEY, user_id BIGINT NOT NULL, phone VARCHAR(20) NOT NULL,
  receiver_address VARCHAR(200) NOT NULL, amount DECIMAL(10, 2) NOT NULL, payment_status VARCHAR(16) NOT NULL,
  created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, KEY (created_at), KEY (payment_status)
);
CREATE TABLE order_db.payment_record (
  payment_id VARCHAR(32) PRIMARY KEY, order_id VARCHAR(32) NOT NULL, channel VARCHAR(16) NOT NULL,
  card_number VARCHAR(32) NOT NULL, status VARCHAR(16) NOT NULL,
  created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, KEY (order_id), KEY (created_at)
);
CREATE TABLE order_db.demo_clock (at DATETIME NOT NULL)
"""


def load_shop(socket: Path, port: int, now: datetime) -> str:
    """Make the database, or shift its times to `now`; return the read-only account's URL, with a new password."""
    with MySQLdb.connect(unix_socket=str(socket), user="root", charset="utf8mb4", autocommit=False) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'order_db'")
        if cursor.fetchone()[0] == 3 and _shift(cursor, now):
            connection.commit()
        else:
            _make(cursor, now)
            connection.commit()
        url = _grant(cursor, port)
        connection.commit()
    return url


def _shift(cursor: Cursor, now: datetime) -> bool:
    cursor.execute("SELECT at FROM order_db.demo_clock")
    found = cursor.fetchone()
    if found is None:
        return False
    seconds = int((now - found[0]).total_seconds())
    for table in ALLOWED:
        cursor.execute(
            f"UPDATE order_db.{table} SET created_at = created_at + INTERVAL %s SECOND,"  # noqa: S608 - a name of ours
            " updated_at = updated_at + INTERVAL %s SECOND",
            (seconds, seconds),
        )
    cursor.execute("UPDATE order_db.demo_clock SET at = %s", (now,))
    return True


def _make(cursor: Cursor, now: datetime) -> None:
    cursor.execute("DROP DATABASE IF EXISTS order_db")
    for statement in _SCHEMA.split(";"):
        cursor.execute(statement)
    dice = random.Random(20_260_701)  # noqa: S311 - sample data, the same each time
    orders, payments = [], []
    for number in range(ORDERS):
        # The newest orders are the incident's; about one in eight of the day.
        minutes = dice.uniform(0, INCIDENT_MINUTES) if number < ORDERS // 8 else dice.uniform(INCIDENT_MINUTES, 1440)
        created = now - timedelta(minutes=minutes)
        status = dice.choices(("PAID", "FAILED", "PENDING"), _odds(minutes))[0]
        waited = 30 if status == "FAILED" and minutes < INCIDENT_MINUTES else dice.uniform(0.2, 4)
        updated = created if status == "PENDING" else min(now, created + timedelta(seconds=waited))
        order_id = f"order-{number + 100}"
        user_id = 10_000 + dice.randrange(4_000)
        phone = f"199{dice.randrange(10**8):08d}"
        amount = round(dice.uniform(5, 900), 2)
        address = f"示例路 {dice.randrange(900)} 号"
        orders.append((order_id, user_id, phone, address, amount, status, created, updated))
        channel = dice.choices(("WECHAT", "ALIPAY", "CARD"), (5, 4, 1))[0]
        card = f"6200-0000-0000-{dice.randrange(10_000):04d}"
        payments.append((f"pay-{number + 100}", order_id, channel, card, status, created, updated))
    cursor.executemany("INSERT INTO order_db.biz_order VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", orders)
    cursor.executemany("INSERT INTO order_db.payment_record VALUES (%s, %s, %s, %s, %s, %s, %s)", payments)
    cursor.execute("INSERT INTO order_db.demo_clock VALUES (%s)", (now,))


def _odds(minutes_ago: float) -> tuple[float, float, float]:
    """Of PAID, FAILED and PENDING."""
    if minutes_ago >= INCIDENT_MINUTES:
        return 0.975, 0.02, 0.005
    worse = 1 - minutes_ago / INCIDENT_MINUTES
    return 0.75 - 0.45 * worse, 0.2 + 0.35 * worse, 0.05 + 0.1 * worse


def _grant(cursor: Cursor, port: int) -> str:
    """An account that can do exactly what the allowlist says."""
    password = secrets.token_urlsafe(18)
    cursor.execute(f"DROP USER IF EXISTS {ACCOUNT}@'%'")
    cursor.execute(f"CREATE USER {ACCOUNT}@'%%' IDENTIFIED BY %s", (password,))
    for table, columns in ALLOWED.items():
        cursor.execute(f"GRANT SELECT ({', '.join(columns)}) ON order_db.{table} TO {ACCOUNT}@'%'")
    return f"mysql://{ACCOUNT}:{password}@127.0.0.1:{port}"


def settings_file() -> str:
    """The demo's `SUPERBIZ_CONFIG`: the allowlist of the shop; log topics stay at their packaged scenario."""
    lines = [
        "# Written by the demo at each start.",
        "[mysql_tools.data_sources.order_readonly]",
        'url = "${ORDER_MYSQL_URL}"',
        'default_schema = "order_db"',
        "",
        "[mysql_tools.data_sources.order_readonly.allowed_schemas.order_db.tables]",
    ]
    for table, columns in ALLOWED.items():
        names = ", ".join(f'"{column}"' for column in columns)
        lines.append(f"{table} = {{ columns = [{names}] }}")
    return "\n".join(lines) + "\n"
