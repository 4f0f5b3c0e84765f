"""Times of all notations, and lines that carry none."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.query_logs.formats import StampFinder
from harness.tools.query_logs.timestamps import to_micros, to_text

NEWEST = to_micros(datetime(2024, 1, 2, 12, tzinfo=UTC))
SHANGHAI = ZoneInfo("Asia/Shanghai")


def found(line: str, zone: ZoneInfo = SHANGHAI, newest: int = NEWEST) -> str | None:
    stamp = StampFinder(zone, newest).find(line.encode())
    return None if stamp is None else to_text(stamp.at)


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("2024-01-02T10:00:00Z INFO started", "2024-01-02T10:00:00.000Z"),
        ("2024-01-02T10:00:00.123456789+08:00 INFO started", "2024-01-02T02:00:00.123Z"),
        ("2024-01-02T10:00:00-0530 INFO started", "2024-01-02T15:30:00.000Z"),
        ("2024-01-02T10:00:00.5+08 INFO started", "2024-01-02T02:00:00.500Z"),
        ("2024-01-02 10:00:00 INFO no zone", "2024-01-02T02:00:00.000Z"),
        ("2024-01-02 10:00:00,123 INFO [main] log4j", "2024-01-02T02:00:00.123Z"),
        ("[2024-01-02 10:00:00.123] [INFO] bracketed", "2024-01-02T02:00:00.123Z"),
        ("2024.01.02 10:00:00 dots", "2024-01-02T02:00:00.000Z"),
        ("web_1  | 2024-01-02T10:00:00Z behind a container's name", "2024-01-02T10:00:00.000Z"),
        ("app.log.1.2024-01-01_09:00:00 2024-01-02 10:00:00.008 2 INFO nova", "2024-01-02T02:00:00.008Z"),
        ("I, [2024-01-02T10:00:00.123456 #12]  INFO -- : ruby", "2024-01-02T02:00:00.123Z"),
        ("Jan  2 10:00:00 web sshd[1]: syslog", "2024-01-02T02:00:00.000Z"),
        ("<34>Jan  2 10:00:00 web su: syslog with priority", "2024-01-02T02:00:00.000Z"),
        ("<34>1 2024-01-02T10:00:00.003Z web su - ID47 - RFC 5424", "2024-01-02T10:00:00.003Z"),
        ('10.0.0.1 - - [02/Jan/2024:10:00:00 +0800] "GET / HTTP/1.1" 200 12', "2024-01-02T02:00:00.000Z"),
        ('shop:443 10.0.0.1 - - [02/Jan/2024:10:00:00 +0000] "GET / HTTP/1.1" 200 1', "2024-01-02T10:00:00.000Z"),
        ("[Tue Jan 02 10:00:00.123456 2024] [core:error] [pid 1] apache", "2024-01-02T02:00:00.000Z"),
        ("[Sun Dec 04 04:47:44 2005] [notice] apache 1.3", "2005-12-03T20:47:44.000Z"),
        ("2024/01/02 10:00:00 [error] 12#0: *1 nginx", "2024-01-02T02:00:00.000Z"),
        ("2024/01/02 10:00:00.123456 main.go:23: go", "2024-01-02T02:00:00.123Z"),
        ("1704189600 epoch", "2024-01-02T10:00:00.000Z"),
        ("1704189600123 epoch in milliseconds", "2024-01-02T10:00:00.123Z"),
        ("1704189600.123    45 10.0.0.1 TCP_MISS/200 squid", "2024-01-02T10:00:00.123Z"),
        ("081109 203615 148 INFO dfs.DataNode: hdfs", "2008-11-09T12:36:15.000Z"),
        ("240102  9:00:00 [Note] mariadb", "2024-01-02T01:00:00.000Z"),
        ("17/06/09 20:10:40 INFO spark", "2017-06-09T12:10:40.000Z"),
        ("20240102-10:00:00:606|Step|3|compact", "2024-01-02T02:00:00.606Z"),
        ("20240102T100000Z compact", "2024-01-02T10:00:00.000Z"),
        ("02-Jan-2024 10:00:00.123 INFO [main] tomcat", "2024-01-02T02:00:00.123Z"),
        ("Jan 02, 2024 3:00:00 PM com.example.Shop pay", "2024-01-02T07:00:00.000Z"),
        ("Tue, 02 Jan 2024 10:00:00 GMT rfc 1123", "2024-01-02T10:00:00.000Z"),
        ("1:M 02 Jan 2024 10:00:00.123 * redis", "2024-01-02T02:00:00.123Z"),
        ("2024年1月2日 10:00:00 订单服务已启动", "2024-01-02T02:00:00.000Z"),
        ("type=SYSCALL msg=audit(1704189600.123:456): auditd", "2024-01-02T10:00:00.123Z"),
        ("[2024-01-02T10:00:00,123][INFO ][o.e.n.Node] elasticsearch", "2024-01-02T02:00:00.123Z"),
        ("01-02 10:00:00.123  1702  2395 D WindowManager: logcat", "2024-01-02T02:00:00.123Z"),
        ("E0102 10:00:00.123456   12345 server.go:10] klog", "2024-01-02T02:00:00.123Z"),
        ("2024-01-02 10:00:00.123 UTC [12] shop@db ERROR:  postgres", "2024-01-02T10:00:00.123Z"),
        ("2024-01-02 10:00:00.123 CST [12] shop@db ERROR:  postgres", "2024-01-02T02:00:00.123Z"),
        ("# Time: 2024-01-02T10:00:00.123456Z", "2024-01-02T10:00:00.123Z"),
        ("# Time: 240102  9:00:00", "2024-01-02T01:00:00.000Z"),
        ('{"level":"info","time":"2024-01-02T10:00:00Z","msg":"x"}', "2024-01-02T10:00:00.000Z"),
        ('{"@timestamp": "2024-01-02 10:00:00,123", "message": "x"}', "2024-01-02T02:00:00.123Z"),
        ('{"level":30,"time":1704189600123,"msg":"pino"}', "2024-01-02T10:00:00.123Z"),
        ('{"level":"info","ts":1704189600.123,"msg":"zap"}', "2024-01-02T10:00:00.123Z"),
        ('{"t":{"$date":"2024-01-02T10:00:00.123+00:00"},"s":"I","msg":"mongo"}', "2024-01-02T10:00:00.123Z"),
        ('{"@t":"2024-01-02T10:00:00Z","@m":"serilog"}', "2024-01-02T10:00:00.000Z"),
        ('{"Timestamp":"2024-01-02T10:00:00Z"}', "2024-01-02T10:00:00.000Z"),
        ('{"instant":{"epochSecond":1704189600,"nanoOfSecond":1},"level":"INFO"}', "2024-01-02T10:00:00.000Z"),
        ('{"__REALTIME_TIMESTAMP":"1704189600123456","MESSAGE":"journald"}', "2024-01-02T10:00:00.123Z"),
        ('{"time_local":"02/Jan/2024:10:00:00 +0800","status":200}', "2024-01-02T02:00:00.000Z"),
        ('{"log":"a \\"time\\":\\"2020-01-01T00:00:00Z\\"","time":"2024-01-02T10:00:00Z"}', "2024-01-02T10:00:00.000Z"),
        ('time="2024-01-02T10:00:00Z" level=info msg="x y"', "2024-01-02T10:00:00.000Z"),
        ("level=info ts=1704189600.123 msg=x", "2024-01-02T10:00:00.123Z"),
        ("ts=2024-01-02T10:00:00.123Z caller=x level=info", "2024-01-02T10:00:00.123Z"),
    ],
)  # fmt: skip
def test_each_notation_is_read(line: str, at: str) -> None:
    assert found(line) == at


@pytest.mark.parametrize(
    "line",
    [
        "",
        "started without a time",
        "\tat com.example.Shop.pay(Shop.java:12)",
        "Caused by: java.io.IOException: at 2024-01-02 10:00:00",
        "    2024-01-02 10:00:00 indented",
        "AND created_at > '2024-01-02 10:00:00'",
        "WHERE created_at = (2024-01-02 10:00:00)",
        '  File "shop.py", line 3, in pay',
        "Traceback (most recent call last):",
        "goroutine 12 [running]:",
        "}",
        "2024-13-45 10:00:00 no such month",
        "2024-02-30 10:00:00 no such day",
        "2024-01-02 25:00:00 no such hour",
        "12345678901 not an epoch",
        '{"msg": "no time"}',
        "{",
    ],
)
def test_a_line_without_a_time_continues_the_event_before_it(line: str) -> None:
    assert found(line) is None


@pytest.mark.parametrize(
    ("line", "newest", "at"),
    [
        ("Dec 31 23:59:59 web sshd[1]: x", datetime(2024, 1, 1, 0, 10, tzinfo=UTC), "2023-12-31T23:59:59.000Z"),
        ("Jan  1 00:00:01 web sshd[1]: x", datetime(2024, 1, 1, 0, 10, tzinfo=UTC), "2024-01-01T00:00:01.000Z"),
        ("Jan  1 00:00:01 web sshd[1]: ahead", datetime(2023, 12, 31, 23, 59, tzinfo=UTC), "2024-01-01T00:00:01.000Z"),
        ("Feb 29 10:00:00 web sshd[1]: leap", datetime(2026, 3, 1, tzinfo=UTC), "2024-02-29T10:00:00.000Z"),
        ("E1231 23:59:59.000001 1 x.go:1] klog", datetime(2024, 1, 1, 0, 10, tzinfo=UTC), "2023-12-31T23:59:59.000Z"),
    ],
)
def test_a_missing_year_is_the_latest_possible_one(line: str, newest: datetime, at: str) -> None:
    assert found(line, ZoneInfo("UTC"), to_micros(newest)) == at


def test_a_zone_with_summer_time_is_applied_by_date() -> None:
    finder = StampFinder(ZoneInfo("Europe/Berlin"), NEWEST)
    times = [finder.find(f"2023-{month}-02 10:00:00 x".encode()) for month in ("01", "07")]
    assert [each and to_text(each.at) for each in times] == ["2023-01-02T09:00:00.000Z", "2023-07-02T08:00:00.000Z"]


def test_one_file_may_mix_notations() -> None:
    finder = StampFinder(SHANGHAI, NEWEST)
    lines = [
        b"2024-01-02 10:00:00 a",
        b"Jan  2 10:00:00 web sshd[1]: b",
        b"<34>1 2024-01-02T02:00:00Z web su - - - c",
        b"# Time: 2024-01-02T02:00:00Z",
    ]
    for _ in range(2):
        stamps = [finder.find(line) for line in lines]
        assert {stamp and to_text(stamp.at) for stamp in stamps} == {"2024-01-02T02:00:00.000Z"}
        assert [stamp and stamp.layout.name for stamp in stamps] == ["PLAIN", "SYSLOG", "SYSLOG", "SLOW_QUERY"]


LINES = st.builds(
    lambda head, second, fraction, zone, rest: f"{head}{second:02}{fraction}{zone}{rest}".encode(),
    st.sampled_from(["2024-01-02 10:00:", "2024-01-02T10:00:", "[2024-01-02 10:00:", "Jan  2 10:00:", "240102 10:00:"]),
    st.integers(0, 2),
    st.sampled_from(["", ".1", ".123", ".999", ",123", ".123456", ".12x"]),
    st.sampled_from(["", "Z", " +0800", "+08:00", " UTC"]),
    st.sampled_from([" INFO paid", "] paid", " 123 paid", "", " GET /", "1"]),
)


@given(st.lists(LINES, max_size=12))
def test_what_a_line_says_does_not_depend_on_the_lines_before_it(lines: list[bytes]) -> None:
    finder = StampFinder(SHANGHAI, NEWEST)
    assert [finder.find(line) for line in lines] == [StampFinder(SHANGHAI, NEWEST).find(line) for line in lines]
