"""Sessions, their runs, and feedback over HTTP."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit.models import ChatSession, DiagnosisRun
from chat.models import Feedback
from tests.audit.factories import REPORT, STARTED, RunFactory, SessionFactory
from tests.cast import ROLES, Cast, token_header


def client_of(user: User | None) -> Client:
    return Client(headers=token_header(user)) if user is not None else Client()


def test_sessions_are_ones_own_newest_first_without_hidden_ones(people: Cast) -> None:
    now = timezone.now()
    old = SessionFactory.create(user=people.owner, title="old", last_active_at=now - timedelta(hours=1))
    new = SessionFactory.create(user=people.owner, title="new", last_active_at=now)
    SessionFactory.create(user=people.owner, hidden_at=now)
    SessionFactory.create(user=people.other)
    results = client_of(people.owner).get("/api/sessions").json()["results"]
    assert [(item["session_id"], item["title"]) for item in results] == [
        (str(new.pk), "new"),
        (str(old.pk), "old"),
    ]
    assert set(results[0]) == {"session_id", "title", "created_at", "last_active_at"}


def test_pages_of_sessions_go_on_where_the_last_one_ended(people: Cast) -> None:
    made = {str(SessionFactory.create(user=people.owner).pk) for _ in range(70)}
    client, address, seen = client_of(people.owner), "/api/sessions", []
    while address:
        page = client.get(address).json()
        seen += [item["session_id"] for item in page["results"]]
        address = page["next"]
    assert len(seen) == len(made) == 70
    assert set(seen) == made


def test_runs_show_question_state_and_what_was_released_in_the_order_of_asking(people: Cast) -> None:
    session = SessionFactory.create(user=people.owner)
    first = RunFactory.create(session=session, user_query="first", started_at=STARTED - timedelta(minutes=1))
    second = RunFactory.create(session=session, user_query="second", failed=True)
    Feedback.objects.create(run=first, rating="up")
    results = client_of(people.owner).get(f"/api/sessions/{session.pk}/runs").json()["results"]
    assert [item["run_id"] for item in results] == [str(first.pk), str(second.pk)]
    shown = [
        (item["user_query"], item["status"], item["released_content"], item["failure_code"], item["feedback"])
        for item in results
    ]
    assert shown == [
        ("first", "SUCCEEDED", REPORT, None, "up"),
        ("second", "FAILED", None, "MODEL_UNAVAILABLE", None),
    ]


def test_a_page_of_runs_costs_no_query_a_run(
    people: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = SessionFactory.create(user=people.owner)
    for _ in range(20):
        RunFactory.create(session=session)
    with django_assert_max_num_queries(4):
        assert len(client_of(people.owner).get(f"/api/sessions/{session.pk}/runs").json()["results"]) == 20


def test_deleting_hides_the_session_and_keeps_its_runs(people: Cast) -> None:
    session = SessionFactory.create(user=people.owner)
    run = RunFactory.create(session=session)
    client = client_of(people.owner)
    assert client.delete(f"/api/sessions/{session.pk}").status_code == 204
    assert client.get("/api/sessions").json()["results"] == []
    assert client.get(f"/api/sessions/{session.pk}/runs").status_code == 404
    assert client.delete(f"/api/sessions/{session.pk}").status_code == 404
    assert DiagnosisRun.objects.filter(pk=run.pk).exists()
    assert ChatSession.objects.get(pk=session.pk).hidden_at is not None


@pytest.mark.parametrize("role", [None, *ROLES])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/sessions/{session}/runs"), ("DELETE", "/api/sessions/{session}")]
)
def test_a_session_is_there_for_its_owner_only(people: Cast, role: str | None, method: str, path: str) -> None:
    session = SessionFactory.create(user=people.owner)
    response = client_of(people[role] if role else None).generic(method, path.format(session=session.pk))
    if role == "owner":
        assert response.status_code in {200, 204}
        return
    expected = (404, "SESSION_NOT_FOUND") if role else (401, "NOT_AUTHENTICATED")
    assert (response.status_code, response.json()["code"]) == expected


@pytest.mark.parametrize("role", [None, *ROLES])
def test_only_the_asker_rates_a_run(people: Cast, role: str | None) -> None:
    run = RunFactory.create(session__user=people.owner)
    client = client_of(people[role] if role else None)
    response = client.post("/api/feedback", {"run_id": str(run.pk), "rating": "up"}, content_type="application/json")
    expected = {None: 401, "owner": 200}.get(role, 404)
    assert response.status_code == expected
    assert Feedback.objects.filter(run=run).exists() == (role == "owner")


def test_a_later_opinion_replaces_the_earlier_one(people: Cast) -> None:
    run = RunFactory.create(session__user=people.owner)
    client = client_of(people.owner)
    for rating, comment in [("down", "wrong table"), ("up", "")]:
        values = {"run_id": str(run.pk), "rating": rating, "comment": comment}
        response = client.post("/api/feedback", values, content_type="application/json")
        assert response.json() == values
    kept = Feedback.objects.get(run=run)
    assert (kept.rating, kept.comment) == ("up", "")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"rating": "up"}, "run_id"),
        ({"run_id": "nonsense", "rating": "up"}, "run_id"),
        ({"run_id": str(UUID(int=1))}, "rating"),
        ({"run_id": str(UUID(int=1)), "rating": "sideways"}, "rating"),
        ({"run_id": str(UUID(int=1)), "rating": "up", "comment": "x" * 2_001}, "comment"),
        ({"run_id": str(UUID(int=1)), "rating": "up", "comment": "a\0b"}, "comment"),
        ({"run_id": str(UUID(int=1)), "rating": "up", "stars": 5}, "stars"),
    ],
)
def test_feedback_that_is_not_valid_names_its_field(people: Cast, values: dict[str, object], field: str) -> None:
    response = client_of(people.owner).post("/api/feedback", values, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["code"] == "INVALID_REQUEST"
    assert list(response.json()["errors"]) == [field]


def test_feedback_of_a_run_that_does_not_exist_is_404(people: Cast) -> None:
    values = {"run_id": str(uuid4()), "rating": "up"}
    response = client_of(people.owner).post("/api/feedback", values, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (404, "RUN_NOT_FOUND")


def test_retention_takes_the_feedback_with_the_run(people: Cast) -> None:
    run = RunFactory.create(session__user=people.owner)
    Feedback.objects.create(run=run, rating="up")
    DiagnosisRun.objects.filter(pk=run.pk).delete()
    assert not Feedback.objects.exists()
