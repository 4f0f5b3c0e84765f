"""The played model behaves as it says, also when it misbehaves."""

import json

import httpx
import pytest

from tests.provider.replies import CUT, DRIP, RESET, call, calls, error, hang, text
from tests.provider.server import Provider

ASK = {"model": "test", "messages": [{"role": "user", "content": json.dumps({"query": "hello"})}]}


def post(provider: Provider, purpose: str = "system_chat", timeout: float = 5) -> httpx.Response:
    headers = {"X-SuperBiz-Purpose": purpose, "X-SuperBiz-Run-Id": "run"}
    return httpx.post(f"{provider.url}/chat/completions", json=ASK, headers=headers, timeout=timeout, trust_env=False)


def test_it_answers_by_script_and_then_by_default(provider: Provider) -> None:
    provider.script("system_chat", text("one"), lambda request: text(request.data()["query"]))
    answers = [post(provider).json()["choices"][0]["message"]["content"] for _ in range(3)]
    assert answers == ["one", "hello", "我可以帮助排查业务系统的故障。"]
    assert provider.purposes() == ["system_chat"] * 3


def test_tool_calls_go_out_as_they_were_made(provider: Provider) -> None:
    provider.script("diagnosis", calls([call("a", "x", "{bad"), call(None, "y", {"z": 1})]))
    made = post(provider, "diagnosis").json()["choices"][0]["message"]["tool_calls"]
    assert made[0]["id"] == "a"
    assert made[0]["function"]["arguments"] == "{bad"
    assert "id" not in made[1]


def test_errors_have_their_status(provider: Provider) -> None:
    provider.script("system_chat", error(429))
    assert post(provider).status_code == 429


@pytest.mark.parametrize("fault", [RESET, CUT])
def test_broken_connections_break(provider: Provider, fault: object) -> None:
    provider.script("system_chat", RESET if fault is RESET else CUT)
    with pytest.raises(httpx.TransportError):
        post(provider)


@pytest.mark.parametrize("slow", [hang(30), DRIP])
def test_a_client_that_leaves_is_noticed(provider: Provider, slow: object) -> None:
    provider.script("system_chat", hang(30) if slow is not DRIP else DRIP)
    with pytest.raises(httpx.TimeoutException):
        httpx.post(
            f"{provider.url}/chat/completions",
            json=ASK,
            headers={"X-SuperBiz-Purpose": "system_chat"},
            timeout=httpx.Timeout(5, read=0.3 if slow is not DRIP else 0.02),
            trust_env=False,
        )
    assert provider.wait_closed(provider.wait_for("system_chat"), 5).closed_by_client
