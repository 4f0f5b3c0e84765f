"""Spans of finished runs, received by a real collector's endpoint, and the figures for Prometheus."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from audit import telemetry
from audit.ids import new_id
from audit.models import DiagnosisRun, RunStatus
from audit.recorder import RunRecorder
from audit.runs import FinalState, finish_run, open_run
from harness.recorder import Reasoning, StepOutcome, ToolCallStatus
from tests.audit.factories import UserFactory
from tests.audit.records import AT, step_record, tool_record

pytestmark = pytest.mark.django_db


@pytest.fixture
def collected() -> Iterator[list[Any]]:
    """What an OTLP/HTTP endpoint was sent; the settings point to it."""
    spans: list[Any] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                spans.extend(span for scope in resource.scope_spans for span in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.server_port}/v1/traces"
        before = settings.SUPERBIZ
        settings.SUPERBIZ = before.model_copy(
            update={"telemetry": before.telemetry.model_copy(update={"otlp_endpoint": endpoint})}
        )
        telemetry._provider.cache_clear()
        yield spans
        telemetry._provider(endpoint).shutdown()
        telemetry._provider.cache_clear()
        settings.SUPERBIZ = before
        server.shutdown()


def carry_a_run() -> DiagnosisRun:
    opened = open_run(
        user=UserFactory.create(), session_id=None, run_id=new_id(), query="PLANTED QUESTION",
        model="openai/gpt-test", language="en", instance="i", run_seconds=60,
    )  # fmt: skip
    recorder = RunRecorder(opened.run_id, opened.session_id)
    recorder.step(step_record(1, Reasoning(provider_field="thinking", content="PLANTED THOUGHT")))
    recorder.tool(tool_record("call_1", started_at=AT + timedelta(seconds=2)))
    recorder.tool(tool_record(
        "call_2", tool_name="query_mysql", status=ToolCallStatus.ERROR, evidence_status="ERROR", error_code="TIMEOUT",
        started_at=AT + timedelta(seconds=3),
    ))  # fmt: skip
    recorder.step(step_record(2, outcome=StepOutcome.TRANSPORT, finish_reason=None, tool_names=[]))
    failed = FinalState(RunStatus.FAILED, "DIAGNOSIS", 2, 2, 200, 40, 0.5, "TOKENS", failure_code="MODEL_UNAVAILABLE")
    assert finish_run(recorder, failed)
    return DiagnosisRun.objects.get(pk=opened.run_id)


def attributes(span: Any) -> dict[str, Any]:
    def value(of: Any) -> Any:
        kind = of.WhichOneof("value")
        return [value(each) for each in of.array_value.values] if kind == "array_value" else getattr(of, kind)

    return {each.key: value(each.value) for each in span.attributes}


def test_a_finished_run_becomes_spans(collected: list[Any]) -> None:
    run = carry_a_run()
    telemetry._provider(settings.SUPERBIZ.telemetry.otlp_endpoint).force_flush()
    spans = {(span.name, attributes(span).get("gen_ai.tool.call.id")): span for span in collected}
    root = spans["invoke_agent SuperBizAgent", None]
    first = next(span for span in collected if attributes(span).get("gen_ai.response.finish_reasons"))
    assert len(collected) == 5
    assert attributes(root)["superbiz.run.id"] == str(run.pk)
    assert attributes(root)["error.type"] == "MODEL_UNAVAILABLE"
    assert attributes(first) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "openai/gpt-test",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "superbiz.purpose": "diagnosis",
        "superbiz.attempt": 1,
    }
    assert first.parent_span_id == root.span_id
    assert spans["execute_tool query_logs", "call_1"].parent_span_id == first.span_id
    assert spans["execute_tool query_mysql", "call_2"].parent_span_id == root.span_id
    assert attributes(spans["execute_tool query_mysql", "call_2"])["error.type"] == "TIMEOUT"
    assert first.end_time_unix_nano - first.start_time_unix_nano == 1_500_000_000
    assert {span.trace_id for span in collected} == {root.trace_id}
    assert "PLANTED" not in str(collected)


def test_without_an_endpoint_nothing_is_kept_for_spans() -> None:
    recorder = RunRecorder(new_id(), new_id())
    recorder.step(step_record())
    assert (recorder.steps_for_spans, recorder.calls_for_spans) == ([], [])


def scraped(client: Client) -> dict[str, float]:
    lines = client.get("/metrics").content.decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_prometheus_sees_what_a_run_did(client: Client) -> None:
    failed = 'superbiz_runs_total{failure_code="MODEL_UNAVAILABLE",fallback_type="",intent="DIAGNOSIS",status="FAILED"}'
    expected = {
        failed: 1,
        'superbiz_run_duration_seconds_count{intent="DIAGNOSIS",status="FAILED"}': 1,
        'superbiz_tokens_total{direction="input"}': 200,
        'superbiz_tokens_total{direction="output"}': 40,
        "superbiz_cost_usd_total": 0.5,
        'superbiz_budget_exhausted_total{reason="TOKENS"}': 1,
        'superbiz_tool_calls_total{error_code="TIMEOUT",status="ERROR",tool="query_mysql"}': 1,
    }
    before = scraped(client)
    carry_a_run()
    after = scraped(client)
    grown = {name: round(after[name] - before.get(name, 0), 6) for name in expected}
    assert grown == expected


def test_names_that_a_model_made_up_share_a_label(client: Client) -> None:
    recorder = RunRecorder(new_id(), new_id())
    for number in range(3):
        recorder.tool(tool_record(
            f"call_{number}", tool_name=f"made_up_{number}", status=ToolCallStatus.ERROR, error_code="UNKNOWN_TOOL"
        ))  # fmt: skip
    figures = scraped(client)
    assert figures['superbiz_tool_calls_total{error_code="UNKNOWN_TOOL",status="ERROR",tool="unknown"}'] >= 3
    assert not any("made_up" in name for name in figures)


def test_a_run_counts_as_active_until_it_ends_or_is_given_up(client: Client) -> None:
    before = scraped(client)["superbiz_runs_active"]
    recorder = RunRecorder(new_id(), new_id())
    assert scraped(client)["superbiz_runs_active"] == before + 1
    del recorder
    assert scraped(client)["superbiz_runs_active"] == before


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("10.1.2.3", {}, 200),
        ("::1", {}, 200),
        ("8.8.8.8", {}, 404),
        ("", {}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "10.0.0.1"}, 404),
    ],
)
def test_figures_are_for_the_inside_only(client: Client, address: str, headers: dict[str, str], status: int) -> None:
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status
