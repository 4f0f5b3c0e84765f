"""How redaction's time grows with the length of a line, for ordinary and for hostile lines.

Run: `.venv/bin/python -m benchmarks.redaction [megabytes]`. Each shape is one line without a break, at a quarter of
the size and at the whole (10 MB unless told). Times are CPU seconds. The slope is log(time ratio) / log(4): 1 is
linear, 2 quadratic.
"""

import math
import sys
import time
from collections.abc import Iterator

from harness.redaction import redact_text

ORDINARY = "2026-10-01T12:00:01.123+08:00 INFO [order-service] paid order=SO202610010002 amount=129.90 from=10.2.3.4 "
UNITS = [
    "password=", 'password="', "password: ", "password: is ", "password:<", "bearer=", "password=[",
    "token ", "密码：", "密码", '"password":["', "http://a:", "mysql://a:b", "@", "a:b@",
    "Authorization: Digest a=", "Cookie: a=b; ", "Basic YWJj ", "-----BEGIN PRIVATE KEY-----", "eyJabcdef.",
    "sk-ab-", "13800138 ", "4111 ", "mysql -p", "--password ", "<password>",
    "INSERT INTO t (password) VALUES ('", "IDENTIFIED BY '", "AUTH ", "setuser ", "\\", "{{", "a", "0", " ",
    "a-", "a.", "password is is ", '"password"', "name: password, value: ", "&lt;password&gt;",
    "password='is ",
]  # fmt: skip


def main() -> None:
    size = int(float(sys.argv[1]) * 1_000_000) if len(sys.argv) > 1 else 10_000_000
    ordinary = _seconds(_line(ORDINARY, size))
    print(f"ordinary log text: {size / ordinary / 1e6:.1f} MB/s")
    results = sorted(_measured(size), key=lambda each: -each[2])
    print(f"{'worst shapes of ' + str(len(UNITS)):<40}{'seconds':>9}{'slope':>7}{'times ordinary':>16}")
    for unit, seconds, slope in results[:8]:
        print(f"{unit!r:<40}{seconds:>9.2f}{slope:>7.2f}{seconds / ordinary:>16.1f}")
    slowest = max(results, key=lambda each: each[1])
    print(f"slowest: {slowest[0]!r} {slowest[1]:.2f} s, steepest slope {results[0][2]:.2f}")


def _measured(size: int) -> Iterator[tuple[str, float, float]]:
    for unit in UNITS:
        quarter, whole = _seconds(_line(unit, size // 4)), _seconds(_line(unit, size))
        yield unit, whole, math.log(whole / quarter) / math.log(4)


def _line(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _seconds(text: str) -> float:
    started = time.process_time()
    redact_text(text)
    return time.process_time() - started


if __name__ == "__main__":
    main()
