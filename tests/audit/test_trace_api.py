"""`GET /api/diagnosis/{session}/trace`: who sees what of a run."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from audit.models import DiagnosisRun
from tests.audit.clients import client_of
from tests.audit.factories import RunFactory, SessionFactory, full_run
from tests.cast import Cast, token_header


@pytest.fixture
def run(cast: Cast) -> DiagnosisRun:
    return full_run(session=SessionFactory.create(user=cast.owner))


def url(run: DiagnosisRun, query: str = "") -> str:
    return f"/api/diagnosis/{run.session_id}/trace{query}"


def body(cast: Cast, name: str, address: str, status: int = 200) -> dict[str, Any]:
    response = client_of(cast, name).get(address)
    assert response.status_code == status
    found: dict[str, Any] = response.json()
    return found


def test_the_owner_sees_run_steps_tool_calls_and_timeline(cast: Cast, run: DiagnosisRun) -> None:
    trace = body(cast, "owner", url(run))
    assert list(trace) == ["session_id", "run", "steps", "tool_invocations", "timeline"]
    assert trace["run"]["run_id"] == str(run.pk)
    assert [step["step_index"] for step in trace["steps"]] == [1, 2, 3, 4]
    assert [call["tool_call_id"] for call in trace["tool_invocations"]] == ["call_1", "call_2"]
    assert [event["seq"] for event in trace["timeline"]] == [1, 2, 3, 4, 5, 6, 7]
    assert next(iter(trace["run"]["released_content"]["payload"])) == "conclusion"


@pytest.mark.parametrize(
    ("name", "reason"), [("owner", None), ("auditor", "Each claim is carried."), ("admin", "Each claim is carried.")]
)
def test_only_auditors_see_the_reason_of_the_semantic_guard(
    cast: Cast, run: DiagnosisRun, name: str, reason: str | None
) -> None:
    timeline = body(cast, name, url(run))["timeline"]
    decided = next(event for event in timeline if event["event_type"] == "SEMANTIC_DECIDED")
    assert decided["details"]["verdict"] == "SUPPORTED"
    assert decided["details"].get("reason") == reason


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("anonymous", 401, "NOT_AUTHENTICATED"),
        ("owner", 200, None),
        ("other", 404, "NOT_FOUND"),
        ("editor", 404, "NOT_FOUND"),
        ("auditor", 200, None),
        ("reasoning", 200, None),
        ("admin", 200, None),
    ],
)
def test_who_may_see_a_trace(cast: Cast, run: DiagnosisRun, name: str, status: int, code: str | None) -> None:
    assert body(cast, name, url(run), status).get("code") == code


def test_a_token_does_as_well_as_a_session(cast: Cast, run: DiagnosisRun) -> None:
    response = client_of(cast, "anonymous").get(url(run), headers=token_header(cast.auditor))
    assert response.status_code == 200


def test_without_a_run_it_is_the_latest_of_the_session(cast: Cast, run: DiagnosisRun) -> None:
    later = RunFactory.create(session=run.session, started_at=timezone.now())
    assert body(cast, "owner", url(run))["run"]["run_id"] == str(later.pk)
    assert body(cast, "owner", url(run, f"?runId={run.pk}"))["run"]["run_id"] == str(run.pk)


@pytest.mark.parametrize("name", ["owner", "auditor"])
def test_a_run_of_another_session_is_not_found(cast: Cast, run: DiagnosisRun, name: str) -> None:
    elsewhere = RunFactory.create()
    assert body(cast, name, url(run, f"?runId={elsewhere.pk}"), 404)["code"] == "NOT_FOUND"
    assert body(cast, name, url(run, f"?runId={uuid4()}"), 404)["code"] == "NOT_FOUND"


def test_ids_that_are_none_are_refused(cast: Cast, run: DiagnosisRun) -> None:
    refused = body(cast, "owner", url(run, "?runId=1"), 400)
    assert (refused["code"], list(refused["errors"])) == ("INVALID_REQUEST", ["runId"])
    assert body(cast, "owner", "/api/diagnosis/no-id/trace", 404)["code"] == "NOT_FOUND"


def test_a_hidden_session_is_gone_for_its_owner_but_not_for_auditors(cast: Cast, run: DiagnosisRun) -> None:
    run.session.hidden_at = timezone.now()
    run.session.save()
    assert body(cast, "owner", url(run), 404)["code"] == "NOT_FOUND"
    assert body(cast, "auditor", url(run))["run"]["run_id"] == str(run.pk)


def test_it_only_answers_get(cast: Cast, run: DiagnosisRun) -> None:
    response = client_of(cast, "owner").post(url(run))
    assert (response.status_code, response.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
