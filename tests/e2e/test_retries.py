"""One attempt is one HTTP request: what the provider counts under each fault equals the retry matrix."""

import pytest

from audit.models import AgentStep
from tests.e2e.client import ChatClient
from tests.provider.replies import CUT, NOT_JSON, RESET, Reply, error, text
from tests.provider.server import Provider

FAULTS: dict[str, tuple[Reply, str, int]] = {
    # name: reply, recorded outcome, attempts of the router
    "429": (error(429), "REJECTED", 1),
    "400": (error(400), "REJECTED", 1),
    "401": (error(401), "REJECTED", 1),
    "500": (error(500), "TRANSPORT", 2),
    "503": (error(503), "TRANSPORT", 2),
    "reset": (RESET, "TRANSPORT", 2),
    "cut-off": (CUT, "TRANSPORT", 2),
    "not JSON": (NOT_JSON, "TRANSPORT", 2),
    "no word": (text("I think this is a diagnosis"), "INVALID", 2),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_router_is_tried_as_often_as_the_matrix_says(owner: ChatClient, provider: Provider, name: str) -> None:
    reply, outcome, attempts = FAULTS[name]
    provider.always("intent_router", reply)
    stream = owner.ask("支付超时")
    assert stream.result.data["code"] == "ROUTING_UNAVAILABLE"
    assert provider.purposes() == ["intent_router"] * attempts
    steps = AgentStep.objects.filter(run_id=stream.run_id).order_by("step_index")
    assert [(step.attempt, step.outcome) for step in steps] == [(n + 1, outcome) for n in range(attempts)]


@pytest.mark.parametrize("name", [name for name in FAULTS if name != "no word"])
def test_the_agent_is_tried_once(owner: ChatClient, provider: Provider, name: str) -> None:
    provider.always("diagnosis", FAULTS[name][0])
    stream = owner.ask("支付超时")
    assert stream.result.data["code"] == "MODEL_UNAVAILABLE"
    assert provider.purposes() == ["intent_router", "diagnosis"]


@pytest.mark.parametrize("name", ["429", "500", "reset"])
def test_the_repair_is_tried_once(owner: ChatClient, provider: Provider, name: str) -> None:
    provider.always("diagnosis", text("no draft"))
    provider.always("evidence_repair", FAULTS[name][0])
    stream = owner.ask("支付超时")
    assert stream.outcome == "FAILED"
    assert provider.purposes().count("evidence_repair") == 1


def test_a_rejected_review_is_not_tried_again(owner: ChatClient, provider: Provider) -> None:
    provider.always("semantic_guard", error(429))
    stream = owner.ask("支付超时")
    assert stream.result.data["payload"]["type"] == "SEMANTIC_UNAVAILABLE"
    assert provider.purposes().count("semantic_guard") == 1


@pytest.mark.parametrize("fault", ["drip", "hang"])
def test_a_slow_provider_is_left_at_the_time_out(
    serve_with: object, client_of: object, provider: Provider, fault: str
) -> None:
    slow = (
        Reply({"role": "assistant", "content": "DIAGNOSIS" * 50}, fault="drip") if fault == "drip" else Reply(delay=60)
    )
    provider.always("intent_router", slow)
    with serve_with(SUPERBIZ_HARNESS__TIMEOUTS__ROUTER="0.5") as server:  # type: ignore[operator]
        stream = client_of("owner", server).ask("支付超时")  # type: ignore[operator]
    assert stream.result.data["code"] == "ROUTING_UNAVAILABLE"
    assert provider.purposes() == ["intent_router"] * 2
    assert all(seen.closed_by_client for seen in provider.seen)
    steps = AgentStep.objects.filter(run_id=stream.run_id)
    assert {step.outcome for step in steps} == {"TIMEOUT"}
