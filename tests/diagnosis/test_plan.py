"""Which plans are shown as the agent wrote them."""

import json

import pytest

from diagnosis.plan import read_plan
from harness.boundary import WireToolCall

CALLS = [WireToolCall("call_1", "query_logs", json.dumps({"topic": "APPLICATION", "query": "HikariPool connection"}))]
FITTING = ["查阅支付超时的排查手册", "检查 order-service 的错误日志", "核对失败支付的订单状态"]


def text(steps: list[str]) -> str:
    return "PLAN:\n" + "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))


@pytest.mark.parametrize(
    "plan",
    [
        text(FITTING),
        "先想一想。\n\n" + text(FITTING) + "\n\n现在开始。",
        text(FITTING).replace("\n", "\r\n"),
        text([*FITTING, "a", "b"]),
    ],
)
def test_a_fitting_plan_is_shown(plan: str) -> None:
    assert read_plan(plan, CALLS)[:3] == FITTING


@pytest.mark.parametrize(
    "steps",
    [
        FITTING[:2],
        [*FITTING, "a", "b", "c"],
        [*FITTING[:2], "x" * 121],
        [*FITTING[:2], "Run SELECT status FROM payment_record"],
        [*FITTING[:2], "update biz_order set payment_status"],
        [*FITTING[:2], "look for HikariPool connection"],
        [*FITTING[:2], 'call {"topic": 1}'],
        [*FITTING[:2], "use password=hunter2secret to log in"],
        [*FITTING[:2], "bell \x07"],
    ],
)
def test_another_plan_is_replaced_by_the_default(steps: list[str]) -> None:
    assert read_plan(text(steps), CALLS) == []


@pytest.mark.parametrize("other", [None, "", "1. a\n2. b\n3. c", "PLAN\n1. a\n2. b\n3. c"])
def test_text_without_the_plan_line_is_no_plan(other: str | None) -> None:
    assert read_plan(other, CALLS) == []


def test_an_argument_list_that_is_no_json_hides_nothing() -> None:
    assert read_plan(text(FITTING), [WireToolCall("call_1", "query_logs", "[" * 100_000)]) == FITTING
