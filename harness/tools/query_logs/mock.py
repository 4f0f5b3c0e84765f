"""The packaged scenario: payments of order-service time out. Its times follow the clock. Nothing in it is real.

Every minute has the same events whenever it is asked for: they are drawn by a generator seeded with the minute.
The pool of order-service runs dry because a batch job holds long transactions.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from harness.tools.query_logs.events import LogEvent

Line = tuple[str, str, str]
_PATHS = ("/api/orders", "/api/pay", "/api/cart", "/api/stock")


def mock_events(topic: str, start: datetime, end: datetime) -> Iterator[LogEvent]:
    """The events of a topic between two times, in order."""
    minute = start.replace(second=0, microsecond=0)
    write = _TOPICS.get(topic, _system)
    while minute <= end:
        dice = random.Random(f"{topic} {int(minute.timestamp())}")  # noqa: S311 - a scenario, the same each time
        lines = list(write(dice))
        seconds = sorted(dice.uniform(0, 59.9) for _ in lines)
        for (level, service, message), second in zip(lines, seconds, strict=True):
            at = minute + timedelta(milliseconds=round(second * 1000))
            if start <= at <= end:
                yield LogEvent(at.astimezone(UTC), level, service, message, f"{level} [{service}] {message}")
        minute += timedelta(minutes=1)


def _application(dice: random.Random) -> Iterator[Line]:
    order, user = f"order-{dice.randrange(100, 20_100)}", dice.randrange(10_000, 14_000)
    for _ in range(3):
        paid = f"order-{dice.randrange(100, 20_100)}"
        yield "INFO", "order-service", f"order created order_id={paid} user_id={user} amount={dice.uniform(5, 900):.2f}"
        yield (
            "INFO",
            "payment-service",
            f"payment accepted order_id={paid} channel={dice.choice(('WECHAT', 'ALIPAY', 'CARD'))}",
        )
    pending = dice.randrange(12, 40)
    for _ in range(2):
        yield (
            "ERROR",
            "order-service",
            "HikariPool-1 - Connection is not available, request timed out after 30000ms "
            f"(total=50, active=50, idle=0, waiting={pending})\n"
            "java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available\n"
            "\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)\n"
            "\tat com.example.order.PaymentRepository.save(PaymentRepository.java:58)",
        )
    yield "ERROR", "order-service", f"ERR_PAY_5003 payment timed out order_id={order} cause=ERR_TIMEOUT elapsed=30012ms"
    yield "WARN", "order-service", f"HikariPool-1 - Pool stats (total=50, active=50, idle=0, waiting={pending})"
    if dice.random() < 0.2:
        held = dice.randrange(61, 190)
        yield "WARN", "order-service", f"transaction held its connection for {held}s in BatchSettlementJob.settle"
    if dice.random() < 0.12:
        yield "WARN", "order-service", "reconnecting with url jdbc:mysql://orders:s3cr3t-Pa55@db-1:3306/order_db"
    if dice.random() < 0.12:
        token = "".join(dice.choices("abcdefghijkmnpqrstuvwxyz23456789", k=32))
        yield "DEBUG", "payment-service", f"POST /channel/pay Authorization: Bearer {token} status=200"
    if dice.random() < 0.1:
        yield "WARN", "inventory-service", "cache miss rate 12% above threshold 10%, reading through"  # a red herring


def _gateway(dice: random.Random) -> Iterator[Line]:
    for _ in range(6):
        path = dice.choice(_PATHS)
        yield (
            "INFO",
            "gateway",
            f'"GET {path} HTTP/1.1" 200 {dice.randrange(200, 9000)} upstream=order-service'
            f" rt=0.0{dice.randrange(10, 99)}",
        )
    for _ in range(2):
        yield (
            "ERROR",
            "gateway",
            f'"POST /api/pay HTTP/1.1" 504 160 upstream=order-service rt=35.00{dice.randrange(0, 9)}',
        )
    if dice.random() < 0.3:
        yield (
            "WARN",
            "gateway",
            f"upstream order-service slow: p99 {dice.randrange(28_000, 34_000)}ms over the last minute",
        )


def _database(dice: random.Random) -> Iterator[Line]:
    thread = dice.randrange(8_000, 9_000)
    yield (
        "WARN",
        "mysql-order",
        f"long transaction thread_id={thread} age={dice.randrange(60, 600)}s state=Sleep table=biz_order"
        " job=BatchSettlementJob",
    )
    yield "INFO", "mysql-order", f"threads connected={dice.randrange(140, 152)} running={dice.randrange(3, 9)}"
    if dice.random() < 0.5:
        yield (
            "ERROR",
            "mysql-order",
            "Lock wait timeout exceeded; try restarting transaction"
            f" thread_id={dice.randrange(9_000, 9_900)} table=biz_order",
        )
    if dice.random() < 0.4:
        yield (
            "WARN",
            "mysql-order",
            f"slow query {dice.uniform(2, 9):.1f}s rows_examined={dice.randrange(90_000, 400_000)}"
            " client=order-service",
        )


def _system(dice: random.Random) -> Iterator[Line]:
    yield "INFO", "node-1", f"load average {dice.uniform(0.8, 2.4):.2f} memory used {dice.randrange(58, 66)}%"
    if dice.random() < 0.1:
        yield "WARN", "node-2", f"disk /var/log {dice.randrange(71, 79)}% used"  # another red herring
    if dice.random() < 0.2:
        yield "INFO", "kubelet", f"pod order-service-{dice.randrange(1, 4)} readiness probe succeeded"


_TOPICS: dict[str, Callable[[random.Random], Iterator[Line]]] = {
    "APPLICATION": _application,
    "GATEWAY": _gateway,
    "DATABASE": _database,
    "SYSTEM": _system,
}
