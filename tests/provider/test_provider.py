"""The played model behaves as it says, also when it misbehaves."""

import asyncio
import json

import httpx
import pytest

from tests.provider.replies import CUT, DRIP, MARKER, RESET, Reply, call, calls, cut_off, error, hang, text
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
    answer = post(provider)
    assert answer.status_code == 429
    assert MARKER in answer.text
    assert answer.headers["Content-Type"].startswith("application/json")


def test_reasoning_usage_and_finish_reason_are_scripted(provider: Provider) -> None:
    provider.script("system_chat", text("a", reasoning_content="thought"), Reply({"content": "b"}, usage=None))
    provider.script("system_chat", cut_off("half"))
    first, second, third = (post(provider).json() for _ in range(3))
    assert first["choices"][0]["message"]["reasoning_content"] == "thought"
    assert first["usage"]["total_tokens"] == 120
    assert "usage" not in second
    assert third["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(("fault", "raised"), [(RESET, httpx.ReadError), (CUT, httpx.RemoteProtocolError)])
def test_broken_connections_break(provider: Provider, fault: Reply, raised: type[Exception]) -> None:
    provider.script("system_chat", fault)
    with pytest.raises(raised):
        post(provider)


@pytest.mark.parametrize(("slow", "patience"), [(hang(30), 0.3), (DRIP, 0.02)])
def test_a_client_that_leaves_is_noticed(provider: Provider, slow: Reply, patience: float) -> None:
    provider.script("system_chat", slow)
    with pytest.raises(httpx.TimeoutException):
        post(provider, timeout=patience)
    assert provider.wait_closed(provider.wait_for("system_chat"), 5).closed_by_client


async def test_requests_at_once_are_counted(provider: Provider) -> None:
    provider.always("system_chat", Reply({"content": "late"}, delay=0.5))
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        asked = (
            client.post(f"{provider.url}/chat/completions", json=ASK, headers={"X-SuperBiz-Purpose": "system_chat"})
            for _ in range(3)
        )
        await asyncio.gather(*asked)
    assert provider.peak == 3
    assert all(seen.ended is not None and not seen.closed_by_client for seen in provider.seen)


def test_it_embeds_by_the_text_alone(provider: Provider) -> None:
    first, second = (
        httpx.post(f"{provider.url}/embeddings", json={"model": "test", "input": texts}, trust_env=False).json()["data"]
        for texts in (["a", "b"], "b")
    )
    assert first[1]["embedding"] == second[0]["embedding"] != first[0]["embedding"]
