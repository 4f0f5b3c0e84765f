"""Level, service and message, whatever wrote the line."""

from datetime import UTC, datetime

import pytest

from harness.tools.query_logs.describe import Description, describe
from harness.tools.query_logs.formats import StampFinder
from harness.tools.query_logs.timestamps import to_micros

NEWEST = to_micros(datetime(2024, 1, 2, 12, tzinfo=UTC))


def described(text: str) -> Description:
    stamp = StampFinder(UTC, NEWEST).find(text.partition("\n")[0].encode())
    assert stamp is not None
    return describe(text, stamp)


@pytest.mark.parametrize(
    ("line", "level", "service", "message"),
    [
        ("2024-01-02 10:00:00 INFO started", "INFO", None, "started"),
        ("2024-01-02 10:00:00,1 INFO [main] com.shop.Pay - started", "INFO", "com.shop.Pay", "started"),
        ("2024-01-02 10:00:00 [http-nio-8080-exec-1] WARN  c.s.Pay - slow", "WARN", "c.s.Pay", "slow"),
        ("2024-01-02 10:00:00,123 - shop - WARNING - disk low", "WARN", "shop", "disk low"),
        ("2024-01-02 10:00:00,1 INFO [main] org.a.MRAppMaster: Created x", "INFO", "org.a.MRAppMaster", "Created x"),
        ("2024-01-02T10:00:00Z  INFO 12 --- [orders] [nio-8080-exec-1] c.e.Pay  : ok", "INFO", "orders", "ok"),
        ("2024-01-02 10:00:00 ERROR [orders,abc,def] 1 --- [exec-1] c.e.Pay : boom", "ERROR", "orders", "boom"),
        ("2024-01-02T10:00:00Z [ERROR] [payments] could not", "ERROR", "payments", "could not"),
        ("2024-01-02T10:00:00Z WARN order-service: pool low", "WARN", "order-service", "pool low"),
        ("2024-01-02 10:00:00 order-service WARN pool low", "WARN", "order-service", "pool low"),
        ("2024-01-02 10:00:00 [INFO] 订单12345支付超时", "INFO", None, "订单12345支付超时"),
        ("2024-01-02 10:00:00 ERROR Error occurred: x", "ERROR", None, "Error occurred: x"),
        ("2024-01-02 10:00:00 INFO 3 connections open", "INFO", None, "3 connections open"),
        ("2024-01-02 10:00:00 INFO user logged in: bob", "INFO", None, "user logged in: bob"),
        ("2024-01-02 10:00:00 Connection refused: db-1", None, None, "Connection refused: db-1"),
        ("02-Jan-2024 10:00:00.1 INFO [main] org.a.Catalina.start Up in 1", "INFO", "org.a.Catalina.start", "Up in 1"),
        ("Jan  2 10:00:00 web sshd[1]: Failed password", None, "sshd", "Failed password"),
        ("Jan  2 10:00:00 web sshd(pam_unix)[1]: check pass", None, "sshd", "check pass"),
        ("Jan  2 10:00:00 web nginx[12]: error: no route", "ERROR", "nginx", "error: no route"),
        ("Jan  2 10:00:00 web kernel: [12345.678] Out of memory", None, "kernel", "[12345.678] Out of memory"),
        ("<34>1 2024-01-02T10:00:00Z web su 12 ID47 - failed", None, "su", "failed"),
        ("[Tue Jan 02 10:00:00 2024] [core:error] [pid 1] died", "ERROR", None, "died"),
        ("[Sun Dec 04 04:47:44 2005] [error] [client 10.0.0.1] denied", "ERROR", None, "[client 10.0.0.1] denied"),
        ("2024/01/02 10:00:00 [error] 12#0: *1 connect() failed", "ERROR", None, "12#0: *1 connect() failed"),
        ("2024/01/02 10:00:00 main.go:23: up", None, "main.go", "up"),
        ("081109 203615 148 INFO dfs.DataNode$Rx: 10.0.0.1:50 Served", "INFO", "dfs.DataNode$Rx", "10.0.0.1:50 Served"),
        ("17/06/09 20:10:40 INFO storage.BlockManager: Found block", "INFO", "storage.BlockManager", "Found block"),
        ("240102 10:00:00 [Warning] aborted", "WARN", None, "aborted"),
        ("E0102 10:00:00.1 123 server.go:10] failed", "ERROR", "server.go", "failed"),
        ("01-02 10:00:00.1  17  23 D WindowManager: shown", "DEBUG", "WindowManager", "shown"),
        ("2024-01-02 10:00:00 UTC [12] shop@db ERROR:  no relation", "ERROR", None, "no relation"),
        ("2024-01-02T10:00:00.1Z 0 [Warning] [MY-010068] [Server] self signed", "WARN", None, "self signed"),
        ("20240102-10:00:00:606|Step|30002312|changed 3579", None, "Step", "changed 3579"),
        ("2024-01-02 10:00:00, Info                  CBS    Loaded", "INFO", "CBS", "Loaded"),
        ("[2024-01-02T10:00:00,1][WARN ][o.e.n.Node] [node-1] closed", "WARN", "o.e.n.Node", "closed"),
        ("2024-01-02T10:00:00.1+0000 E NETWORK  [conn3] end", "ERROR", "NETWORK", "[conn3] end"),
        ('{"MESSAGE":"no","PRIORITY":"3","SYSLOG_IDENTIFIER":"su","time":1704189600}', "ERROR", "su", "no"),
        ('{"ts":1704189600.1,"message":"no","log.level":"ERROR","service":{"name":"pay"}}', "ERROR", "pay", "no"),
        ('{"time":"2024-01-02T10:00:00Z","level":"warning","service":"pay","msg":"slow"}', "WARN", "pay", "slow"),
        ('{"time":1704189600123,"level":50,"name":"pay","msg":"slow"}', "ERROR", "pay", "slow"),
        ('{"t":{"$date":"2024-01-02T10:00:00.1Z"},"s":"E","c":"NETWORK","msg":"slow"}', "ERROR", "NETWORK", "slow"),
    ],
)  # fmt: skip
def test_header_words_are_told_from_the_message(
    line: str, level: str | None, service: str | None, message: str
) -> None:
    said = described(line)
    assert (said.level, said.service, said.message) == (level, service, message)
    assert said.message in line


@pytest.mark.parametrize(
    ("line", "level", "service"),
    [
        ('10.0.0.1 - - [02/Jan/2024:10:00:00 +0000] "GET / HTTP/1.1" 200 12', "INFO", None),
        ('10.0.0.1 - - [02/Jan/2024:10:00:00 +0000] "GET / HTTP/1.1" 404 12', "WARN", None),
        ('10.0.0.1 - - [02/Jan/2024:10:00:00 +0000] "GET / HTTP/1.1" 504 12', "ERROR", None),
        ('time="2024-01-02T10:00:00Z" level=error service=pay msg="no"', "ERROR", "pay"),
        ("# Time: 2024-01-02T10:00:00Z", "WARN", None),
        ('{"time":"2024-01-02T10:00:00Z","level":"error","service":"pay","msg":"no","code":7}', "ERROR", "pay"),
        ('{"@timestamp":"2024-01-02T10:00:00Z","log":{"level":"error"},"service":{"name":"pay"}}', "ERROR", "pay"),
        ('{"time_local":"02/Jan/2024:10:00:00 +0800","status":502,"uri":"/"}', "ERROR", None),
    ],
)
def test_where_a_line_says_more_than_its_message_all_of_it_is_shown(
    line: str, level: str | None, service: str | None
) -> None:
    said = described(line)
    assert (said.level, said.service, said.message) == (level, service, line)


def test_the_line_that_a_container_wrote_is_read_inside_its_json() -> None:
    line = (
        '{"log":"2024-01-02 10:00:00,1 ERROR [main] c.s.Pay - no\\n","stream":"stdout","time":"2024-01-02T10:00:00Z"}'
    )
    said = described(line)
    assert (said.level, said.service, said.subject.strip()) == ("ERROR", "c.s.Pay", "no")


def test_lines_behind_a_json_line_belong_to_it() -> None:
    text = '{"time":"2024-01-02T10:00:00Z","level":"error","msg":"no"}\nTraceback (most recent call last):\nOSError: no'
    said = described(text)
    assert (said.level, said.message) == ("ERROR", text)


def test_java_util_logging_says_its_level_on_the_second_line() -> None:
    said = described("Jan 02, 2024 3:00:00 PM com.shop.Pay pay\nSEVERE: no connection")
    assert said.level == "ERROR"


def test_the_place_of_the_time_is_counted_in_characters() -> None:
    assert described("订单服务 2024-01-02 10:00:00 ERROR 超时").message == "超时"


def test_a_long_line_of_brackets_is_read_at_once() -> None:
    for text in ("[" * 100_000, "[a" * 50_000, "a.b" * 50_000, "12 " * 50_000, "x:" * 50_000):
        assert described(f"2024-01-02 10:00:00 {text}").level is None
