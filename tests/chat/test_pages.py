"""The page: who gets it, and what it is given."""

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from chat.models import Feedback
from tests.audit.factories import REPORT, RunFactory, SessionFactory
from tests.cast import Cast


def client_of(people: Cast, role: str) -> Client:
    client = Client()
    client.force_login(people[role])
    return client


@pytest.mark.parametrize("address", ["/", "/sessions/00000000-0000-0000-0000-000000000000/"])
def test_who_is_not_logged_in_is_sent_to_the_login(db: None, address: str) -> None:
    response = Client().get(address)
    assert (response.status_code, response["Location"]) == (302, f"/login/?next={address}")


def test_the_login_page_is_there_and_leads_back(people: Cast) -> None:
    people.owner.set_password("a long enough password")
    people.owner.save()
    client = Client()
    assert client.get("/login/").status_code == 200
    form = {"username": "owner", "password": "a long enough password", "next": "/"}
    response = client.post("/login/", form)
    assert (response.status_code, response["Location"]) == (302, "/")
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302


def test_the_page_is_given_the_users_sessions_and_a_new_one(people: Cast) -> None:
    mine = SessionFactory.create(user=people.owner)
    SessionFactory.create(user=people.owner, hidden_at=timezone.now())
    SessionFactory.create(user=people.other)
    response = client_of(people, "owner").get("/")
    assert response.status_code == 200
    assert list(response.context["sessions"]) == [mine]
    assert (response.context["session_id"], response.context["runs"]) == (None, [])
    assert response.context["endpoints"] == {
        "chat": "/api/chat",
        "cancel": "/api/runs/00000000-0000-0000-0000-000000000000/cancel",
        "feedback": "/api/feedback",
        "sessions": "/api/sessions",
    }
    assert response["Cache-Control"].startswith("max-age=0, no-cache, no-store")


def test_a_session_is_shown_with_exactly_what_was_released(people: Cast) -> None:
    session = SessionFactory.create(user=people.owner)
    run = RunFactory.create(session=session)
    Feedback.objects.create(run=run, rating="down")
    response = client_of(people, "owner").get(f"/sessions/{session.pk}/")
    assert response.context["session_id"] == session.pk
    assert response.context["runs"] == [
        {
            "run_id": run.pk,
            "user_query": run.user_query,
            "status": "SUCCEEDED",
            "content": REPORT,
            "failure_code": None,
            "started_at": run.started_at,
            "feedback": "down",
        }
    ]


@pytest.mark.parametrize("role", ["other", "auditor", "reasoning", "editor", "admin"])
def test_nobody_else_gets_a_session(people: Cast, role: str) -> None:
    session = SessionFactory.create(user=people.owner)
    assert client_of(people, role).get(f"/sessions/{session.pk}/").status_code == 404


def test_a_hidden_session_is_gone(people: Cast) -> None:
    session = SessionFactory.create(user=people.owner, hidden_at=timezone.now())
    assert client_of(people, "owner").get(f"/sessions/{session.pk}/").status_code == 404


def test_the_page_says_when_the_demo_model_answers(people: Cast) -> None:
    assert client_of(people, "owner").get("/").context["demo_model"] is True


def test_text_from_users_and_models_is_escaped(people: Cast) -> None:
    session = SessionFactory.create(user=people.owner, title="<script>alert(1)</script>")
    RunFactory.create(session=session, user_query="</script><script>alert(2)</script>")
    page = client_of(people, "owner").get(f"/sessions/{session.pk}/").content
    assert b"alert(1)" in page
    assert b"alert(2)" in page
    assert b"<script>alert" not in page


def test_the_page_costs_no_query_a_run(people: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    session = SessionFactory.create(user=people.owner)
    for _ in range(20):
        RunFactory.create(session=session)
    client = client_of(people, "owner")
    with django_assert_max_num_queries(6):
        assert client.get(f"/sessions/{session.pk}/").status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_page_is_only_read(people: Cast, method: str) -> None:
    assert getattr(client_of(people, "owner"), method)("/").status_code == 405


def test_the_language_switch_is_there(people: Cast) -> None:
    client = client_of(people, "owner")
    client.post("/i18n/setlang/", {"language": "en", "next": "/"})
    assert client.get("/")["Content-Language"] == "en"
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    assert client.get("/")["Content-Language"] == "zh-hans"
