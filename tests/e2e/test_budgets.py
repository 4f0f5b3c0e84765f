"""Budgets over HTTP: the reason is recorded, the last call has no tools, one call is kept for the repair."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.e2e.client import ChatClient, Stream
from tests.e2e.server import Server
from tests.e2e.waiting import ended
from tests.provider.replies import Reply, Request, call, calls, text
from tests.provider.script import diagnose, draft_from_results
from tests.provider.server import Provider

Serve = Callable[..., AbstractContextManager[Server]]


def never_done(request: Request) -> Reply:
    """An agent that goes on asking while it may."""
    if "tools" not in request.body:
        return draft_from_results(request)
    number = len(request.tool_results())
    return calls([call(f"call_{number}", "query_logs", {"topic": "APPLICATION", "query": f"order-service -x{number}"})])


@pytest.fixture
def ask(serve_with: Serve, client_of: Callable[..., ChatClient], provider: Provider) -> Callable[..., Stream]:
    def run(agent: Any = never_done, **settings: str) -> Stream:
        provider.always("diagnosis", agent)
        names = {f"SUPERBIZ_HARNESS__{name}": value for name, value in settings.items()}
        with serve_with(**names) as server:
            return client_of("owner", server).ask("支付超时")

    return run


def test_the_last_model_call_has_no_tools_and_still_makes_a_report(
    ask: Callable[..., Stream], provider: Provider
) -> None:
    stream = ask(BUDGET__MODEL_CALLS="4")
    assert stream.outcome == "SUCCESS", stream.result
    assert ["tools" in request.body for request in provider.requests("diagnosis")] == [True, True, False]
    run = ended(stream.run_id)
    assert (run.model_calls, run.budget_exhausted_reason) == (3, "MODEL_CALLS")


def test_the_kept_call_goes_to_the_repair(ask: Callable[..., Stream], provider: Provider) -> None:
    stream = ask(
        lambda request: text("no draft") if "tools" not in request.body else never_done(request),
        BUDGET__MODEL_CALLS="3",
    )
    assert stream.outcome == "SUCCESS", stream.result
    assert provider.purposes().count("evidence_repair") == 1
    assert ended(stream.run_id).model_calls == 3


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"BUDGET__TOOL_CALLS": "2", "BUDGET__TOOL_CALLS_PER_TOOL": '{"query_logs": 2}'}, "TOOL_CALLS"),
        ({"BUDGET__TOOL_CALLS_PER_TOOL": '{"query_logs": 1}'}, "TOOL_CALLS_PER_TOOL"),
        ({"BUDGET__TOTAL_TOKENS": "9000", "BUDGET__CONTEXT_TOKENS": "9000"}, "TOKENS"),
        ({"BUDGET__CONTEXT_TOKENS": "6000"}, "CONTEXT_TOKENS"),
        ({"BUDGET__REPORT_RESERVE_SECONDS": "179.9"}, "DEADLINE"),
    ],
)
def test_each_budget_ends_in_a_report_and_names_itself(
    ask: Callable[..., Stream], settings: dict[str, str], reason: str
) -> None:
    stream = ask(**settings)
    run = ended(stream.run_id)
    assert run.budget_exhausted_reason == reason
    assert stream.outcome in {"SUCCESS", "FALLBACK"}, stream.result


def test_a_prompt_that_does_not_fit_fails_the_run(ask: Callable[..., Stream], provider: Provider) -> None:
    stream = ask(BUDGET__CONTEXT_TOKENS="100")
    assert stream.result.data["code"] in {"BUDGET_EXHAUSTED"}
    assert provider.purposes() == []
    assert ended(stream.run_id).budget_exhausted_reason == "CONTEXT_TOKENS"


def test_a_review_that_does_not_fit_is_a_fallback(ask: Callable[..., Stream], provider: Provider) -> None:
    stream = ask(diagnose, SEMANTIC__INPUT_BYTES="200")
    assert stream.result.data["payload"]["type"] == "SEMANTIC_UNAVAILABLE"
    assert "semantic_guard" not in provider.purposes()
    assert ended(stream.run_id).budget_exhausted_reason == "SEMANTIC_INPUT"


def test_tokens_are_estimated_when_the_provider_reports_none(owner: ChatClient, provider: Provider) -> None:
    provider.script("intent_router", Reply({"role": "assistant", "content": "SYSTEM_CHAT"}, usage=None))
    stream = owner.ask("hello")
    from audit.models import AgentStep

    first, second = AgentStep.objects.filter(run_id=stream.run_id).order_by("step_index")
    assert first.tokens_estimated
    assert first.input_tokens > 50
    assert not second.tokens_estimated
