"""Patterns: what is masked, and which messages are one event."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools.query_logs.masks import mask, skeleton
from harness.tools.query_logs.miner import PatternMiner
from tests.harness.query_logs.asking import sample


def mined(lines: list[str]) -> PatternMiner:
    miner = PatternMiner()
    for line in lines:
        miner.add(line.encode())
    return miner


def templates(*lines: str) -> list[str]:
    return [pattern.template for pattern in mined(list(lines)).patterns()]


def test_ids_are_the_same_in_every_process() -> None:
    code = (
        "import sys; from harness.tools.query_logs.miner import PatternMiner; miner = PatternMiner();"
        "[miner.add(line.strip()) for line in sys.stdin.buffer]; print(*miner.assigned())"
    )
    outcomes = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=sample("OpenSSH").read_bytes(),
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outcomes) == 1


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("took 12 ms for 3.5 MB", "took <*> for <*>"),
        ("connect to 10.0.0.1:3306 failed", "connect to <*> failed"),
        ("GET /api/orders/12?x=y failed", "GET <*> failed"),
        ("open /var/log/app.log: denied", "open <*>: denied"),
        ("open C:\\logs\\app.log denied", "open <*> denied"),
        ("fetch https://shop.example/a?b=c done", "fetch <*> done"),
        ("order 550e8400-e29b-41d4-a716-446655440000 paid", "order <*> paid"),
        ("at 2024-01-02T10:00:00Z the job ended", "at <*> the job ended"),
        ("user=bob id=7 state=open", "user=<*> id=<*> state=<*>"),
        ('user="bob smith" state=open', 'user="<*>" state=<*>'),
        ('level=info msg="order 7 paid by bob"', 'level=info msg="order <*> paid by bob"'),
        ('got {"user": "bob", "id": 7, "ok": true}', 'got {"user": <*>, "id": <*>, "ok": <*>}'),
        ("订单order-123支付超时，耗时30秒", "订单<*>支付超时，耗时<*>"),
        ("用户：12345，金额：99.50元", "用户：<*>，金额：<*>元"),
        ("blocks 1, 2, 3 and [4 5 6] lost", "blocks <*> and [<*>] lost"),
        ("the pool is empty", "the pool is empty"),
        ("", ""),
    ],
)
def test_variable_parts_are_masked_and_nothing_else(line: str, template: str) -> None:
    assert mask(line).text().replace('"<*>"', "<*>") == template.replace('"<*>"', "<*>")


def test_values_of_one_key_are_one_pattern_and_keys_are_not() -> None:
    lines = [f'{{"user": "{name}", "event": "login"}}' for name in ("bob", "eve", "李雷")]
    assert len(templates(*lines)) == 1
    assert len(templates('{"user": "bob"}', '{"host": "bob"}')) == 2


@pytest.mark.parametrize(
    "names",
    [["bob", "eve"], ["李雷", "韩梅梅"], ["bob", "eve-2"]],
)
def test_two_names_are_enough_where_names_are_expected(names: list[str]) -> None:
    assert templates(*(f"login for {name} refused" for name in names)) == ["login for <*> refused"]
    assert len(templates(*(f"login of '{name}' refused" for name in names))) == 1


def test_two_plain_words_are_two_events() -> None:
    assert len(templates("failed to open the pool", "failed to close the pool")) == 2
    assert len(templates("device started", "device stopped")) == 2
    assert len(templates("session opened now", "session closed now")) == 2
    assert len(templates("连接成功", "连接失败")) == 2
    assert len(templates("支付成功，订单7", "支付失败，订单7")) == 2


def test_many_words_in_one_place_are_a_variable() -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
    assert templates(*(f"module {word} was loaded" for word in words)) == ["module <*> was loaded"]
    assert templates(*(f"loading of {word} was ended" for word in words)) == ["loading of <*> was ended"]


def test_names_inside_chinese_text_are_a_variable() -> None:
    names = ["张三", "李四", "王五", "赵六", "欧阳修", "钱七"]
    assert templates(*(f"用户{name}登录失败" for name in names)) == ["用户<*>登录失败"]


def test_qualified_names_are_a_variable_in_any_place() -> None:
    assert len(templates("com.shop.Pay is deprecated", "com.shop.Cart is deprecated")) == 1


def test_several_names_at_once_are_variables() -> None:
    pairs = [("a.pay", "x.one"), ("b.cart", "y.two"), ("c.stock", "z.three")]
    assert len(templates(*(f"bean {one} now depends on the other bean {other} here" for one, other in pairs))) == 1


def test_a_pattern_has_the_level_and_count_of_its_lines() -> None:
    lines = [f"2024-01-02 10:00:0{n} {'WARN' if n else 'ERROR'} [shop] pool at {n}" for n in range(3)]
    lines.append("2024-01-02 10:00:05 INFO [shop] ready")
    first, second = mined(lines).patterns()
    assert (first.count, first.level, first.template, first.example) == (3, "WARN", "pool at <*>", "pool at 0")
    assert (second.count, second.level, second.template) == (1, "INFO", "ready")


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_has_a_mask_that_is_stable(text: str, digits: str) -> None:
    masked = mask(text)
    assert mask(text) == masked
    assert len(masked.tokens) == len(masked.blanks) <= 160


@given(
    st.lists(
        st.sampled_from(["a", "uid=", "7", "80", "blk_", " ", "，", "订单", ":", '"', "/x", "-", "3.5", "ms"]),
        max_size=14,
    )
)
def test_lines_of_one_skeleton_have_one_mask(parts: list[str]) -> None:
    one = "".join(parts)
    other = "".join(part.translate(str.maketrans("0123456789", "8888888888")) for part in parts)
    assert skeleton(one.encode()) == skeleton(other.encode())
    assert mask(one).tokens == mask(other).tokens


@pytest.mark.parametrize(
    "unit", ["a=", "1,", "/a", '"a":', '"', "1 ", "<", "[", "a.b", "é1", "订1", "http://", "=", "\\", 'k="', "-1"]
)
def test_long_lines_of_any_shape_are_masked(unit: str) -> None:
    assert mask(unit * 50_000).tokens
