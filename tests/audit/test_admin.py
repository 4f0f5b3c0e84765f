"""The audit's pages in the admin."""

import re
from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit.admin import runs as admin_runs
from audit.dashboard import dashboard
from audit.models import ChatSession, DiagnosisRun, ReasoningAccess
from audit.vault import Vault
from tests.audit.clients import client_of
from tests.audit.factories import (
    STARTED,
    ReasoningFactory,
    RunFactory,
    StepFactory,
    ToolInvocationFactory,
    full_run,
)
from tests.cast import Cast

LIST = "/admin/audit/diagnosisrun/"


@pytest.fixture
def staff(cast: Cast) -> Cast:
    """The admin is for staff; what each may see there is a matter of permissions."""
    User.objects.update(is_staff=True)
    return cast


@pytest.fixture
def auditor(staff: Cast) -> Client:
    return client_of(staff, "auditor")


def text(response: Any) -> str:
    assert response.status_code == 200
    content: str = response.content.decode()
    return content


def page(client: Client, run: DiagnosisRun, tail: str = "change/") -> str:
    return text(client.get(f"{LIST}{run.pk}/{tail}"))


@pytest.mark.parametrize("model", [ChatSession, DiagnosisRun, ReasoningAccess])
def test_nobody_may_add_change_or_delete(staff: Cast, model: type[Any]) -> None:
    site_admin = admin.site.get_model_admin(model)
    client = client_of(staff, "admin")
    request = client.get(LIST).wsgi_request
    assert not site_admin.has_add_permission(request)
    assert not site_admin.has_change_permission(request)
    assert not site_admin.has_delete_permission(request)
    assert site_admin.has_view_permission(request)
    RunFactory.create()
    for row in model.objects.all()[:1]:
        names = f"admin:audit_{model._meta.model_name}"
        assert client.post(reverse(f"{names}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
        assert model.objects.filter(pk=row.pk).exists()
    assert client.get(f"/admin/audit/{model._meta.model_name}/add/").status_code == 403


def test_the_list_has_its_columns(auditor: Client) -> None:
    RunFactory.create(fallback=True, user_query="<script>alert(1)</script>")
    html = text(auditor.get(LIST))
    assert "&lt;script&gt;alert(1)" in html
    for shown in ('data-state="FALLBACK"', "SEMANTIC_UNSUPPORTED", "8.0 s", "3,500", "0.0123", "user-"):
        assert shown in html


def test_the_list_takes_one_query_for_all_rows(
    auditor: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(20):
        RunFactory.create()
    with django_assert_num_queries(5) as queries:  # session, user, two of permissions, runs
        auditor.get(LIST)
    assert not any("COUNT(" in query["sql"] for query in queries.captured_queries)


def test_the_list_pages_by_key(auditor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin_runs.DiagnosisRunAdmin, "list_per_page", 2)
    runs = [RunFactory.create(started_at=STARTED + timedelta(minutes=n // 2)) for n in range(5)]
    seen, address = [], "?status__exact=SUCCEEDED"
    while address:
        html = text(auditor.get(LIST + address))
        seen += re.findall(r'data-run="([^"]+)"', html)
        older = re.search(r'href="(\?[^"]+)" rel="next"', html)
        address = older[1].replace("&amp;", "&") if older else ""
    newest_first = sorted(runs, key=lambda run: (run.started_at, run.pk), reverse=True)
    assert seen == [str(run.pk) for run in newest_first]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?status__exact=FAILED", ["failed"]),
        ("?intent__exact=KNOWLEDGE_QUERY", ["question"]),
        ("?fallback_type=SEMANTIC_UNSUPPORTED", ["fallback"]),
        ("?user=alice", ["question"]),
        ("?q=ERR_PAY", ["question"]),
        ("?after=nonsense", ["question", "fallback", "failed"]),
        ("?o=3.1", ["question", "fallback", "failed"]),
    ],
)
def test_the_list_can_be_narrowed(auditor: Client, query: str, found: list[str]) -> None:
    minutes = {"failed": 0, "fallback": 1, "question": 2}
    runs = {
        "failed": RunFactory.create(failed=True),
        "fallback": RunFactory.create(fallback=True, started_at=STARTED + timedelta(minutes=minutes["fallback"])),
        "question": RunFactory.create(
            session__user__username="alice", intent="KNOWLEDGE_QUERY", user_query="ERR_PAY_5003?",
            started_at=STARTED + timedelta(minutes=minutes["question"]),
        ),
    }  # fmt: skip
    html = text(auditor.get(LIST + query))
    assert re.findall(r'data-run="([^"]+)"', html) == [str(runs[name].pk) for name in found]


def test_ids_are_searched_exactly(auditor: Client) -> None:
    run, other = RunFactory.create(), RunFactory.create()
    for wanted in (run.pk, run.session_id):
        html = text(auditor.get(f"{LIST}?q={wanted}"))
        assert str(run.pk) in html
        assert str(other.pk) not in html
    assert str(run.pk) not in re.findall(r'data-run="([^"]+)"', text(auditor.get(f"{LIST}?q={str(run.pk)[:20]}")))


@pytest.mark.parametrize(
    ("name", "status"), [("owner", 403), ("editor", 403), ("auditor", 200), ("reasoning", 200), ("admin", 200)]
)
def test_who_may_see_the_pages(staff: Cast, name: str, status: int) -> None:
    run = full_run()
    client = client_of(staff, name)
    for address in ("", "dashboard/", f"{run.pk}/change/", f"{run.pk}/compare/?with={run.pk}"):
        assert client.get(LIST + address).status_code == status


def test_the_run_page_shows_everything_that_happened(auditor: Client) -> None:
    run = full_run()
    html = page(auditor, run)
    for shown in (
        run.user_query, "NOT_CITABLE", "$.analysis[0].tool_call_ids[0]", "Each claim is carried.", "call_2",
        "NOT_ALLOWED", "intent_router", "RUN_FINISHED", "The pool is exhausted.", str(run.session_id),
    ):  # fmt: skip
        assert shown in html, shown
    assert html.count("<rect ") == 6
    assert html.count("<meter ") == 4


def test_the_report_is_shown_as_text(auditor: Client) -> None:
    html = page(auditor, full_run())
    assert "&lt;b&gt;42&lt;/b&gt; timeouts" in html
    assert "<b>42</b>" not in html


@pytest.mark.parametrize("kind", ["fallback", "failed", "cancelled", "running"])
def test_the_run_page_shows_every_end(auditor: Client, kind: str) -> None:
    html = page(auditor, RunFactory.create(**{kind: True}))
    assert ("The evidence does not carry the report." in html) == (kind == "fallback")
    assert ("MODEL_UNAVAILABLE" in html) == (kind == "failed")


def test_the_run_page_needs_no_more_queries_for_more_rows(
    auditor: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = full_run()
    for n in range(5, 25):
        StepFactory.create(run=run, step_index=n)
        ToolInvocationFactory.create(run=run)
        RunFactory.create(session=run.session)
    with django_assert_num_queries(10):
        page(auditor, run)


def test_pages_hold_no_inline_style_or_script(auditor: Client) -> None:
    run = full_run()
    for address in ("", "dashboard/", f"{run.pk}/change/", f"{run.pk}/compare/?with={run.pk}"):
        response = auditor.get(LIST + address)
        html = text(response)
        assert not re.search(r"<[^>]+\sstyle=", html)
        assert "<style" not in html
        assert not re.search(r"<script(?![^>]*\ssrc=)", html)
        assert "default-src 'self'" in response["Content-Security-Policy"]


@pytest.mark.parametrize("tail", ["not-an-id/change/", "not-an-id/compare/", "dashboard2/"])
def test_ids_that_are_none_are_not_found(auditor: Client, tail: str) -> None:
    assert auditor.get(LIST + tail).status_code in (302, 404)
    run = RunFactory.create()
    assert auditor.get(f"{LIST}{run.pk}/compare/?with=x").status_code == 404
    assert auditor.get(f"{LIST}{run.session_id}/change/").status_code == 404


def test_two_runs_are_compared(auditor: Client) -> None:
    left, right = full_run(), full_run(model="openai/other")
    html = page(auditor, left, f"compare/?with={right.pk}")
    assert html.count('class="differs"') == 1
    assert "openai/other" in html


def test_a_session_and_a_reading_can_be_looked_at(staff: Cast) -> None:
    session = RunFactory.create().session
    reading = ReasoningAccess.objects.create(user=staff.owner, granted=False, http_status=403, via="API")
    client = client_of(staff, "reasoning")
    for row in (session, reading):
        name = row._meta.model_name
        assert str(row.pk) in text(client.get(f"/admin/audit/{name}/"))
        assert "_save" not in text(client.get(f"/admin/audit/{name}/{row.pk}/change/"))


class TestReasoning:
    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch) -> DiagnosisRun:
        vault = Vault(Fernet.generate_key().decode())
        monkeypatch.setattr(admin_runs, "get_vault", lambda: vault)
        step = StepFactory.create()
        sealed = vault.seal("first <i>the</i> logs")
        ReasoningFactory.create(step=step, reasoning_available=True, reasoning_content=sealed, content_bytes=21)
        run: DiagnosisRun = step.run
        return run

    def test_it_is_on_a_page_of_its_own(self, staff: Cast, run: DiagnosisRun) -> None:
        client = client_of(staff, "reasoning")
        assert "the&lt;/i&gt; logs" in page(client, run, "reasoning/")
        assert "the&lt;/i&gt; logs" not in page(client, run)
        entry = ReasoningAccess.objects.get()
        assert (entry.user, entry.run_id, entry.granted, entry.via) == (staff.reasoning, run.pk, True, "ADMIN")

    def test_without_its_permission_it_is_refused_and_logged(self, staff: Cast, run: DiagnosisRun) -> None:
        client = client_of(staff, "auditor")
        assert client.get(f"{LIST}{run.pk}/reasoning/").status_code == 403
        assert "/reasoning/" not in page(client, run)
        entry = ReasoningAccess.objects.get()
        assert (entry.user, entry.granted, entry.http_status) == (staff.auditor, False, 403)

    def test_the_log_shows_who_read(self, staff: Cast, run: DiagnosisRun) -> None:
        client = client_of(staff, "reasoning")
        page(client, run, "reasoning/")
        html = text(client.get(f"/admin/audit/reasoningaccess/?q={run.pk}"))
        assert str(run.pk) in html
        assert "127.0.0.1" in html
        assert client_of(staff, "auditor").get("/admin/audit/reasoningaccess/").status_code == 403


class TestDashboard:
    def test_it_counts_outcomes_fallbacks_durations_and_tool_errors(self, db: None) -> None:
        now = timezone.now()
        for duration in (1_000, 2_000, 9_000):
            RunFactory.create(started_at=now - timedelta(hours=1), duration_ms=duration)
        run = RunFactory.create(fallback=True, started_at=now - timedelta(days=3), duration_ms=2_000)
        ToolInvocationFactory.create(run=run, status="ERROR", error_code="TIMEOUT")
        ToolInvocationFactory.create(run=run)
        RunFactory.create(running=True, started_at=now)
        RunFactory.create(failed=True, started_at=now - timedelta(days=8))
        figures = dashboard(now, 7)
        assert (figures.total, figures.running) == (4, 1)
        assert [(share.name, share.count, share.percent) for share in figures.states] == [
            ("SUCCEEDED", 3, 75.0), ("FALLBACK", 1, 25.0), ("FAILED", 0, 0.0), ("CANCELLED", 0, 0.0),
        ]  # fmt: skip
        assert [(share.name, share.count, share.total) for share in figures.fallbacks] == [
            ("SEMANTIC_UNSUPPORTED", 1, 4)
        ]
        assert [(share.name, share.count, share.total) for share in figures.tools] == [("query_logs", 1, 2)]
        assert (figures.p50_ms, figures.p95_ms) == (2_000, 7_950)
        assert figures.tokens == 14_000
        assert sum(day.total for day in figures.days) == 4

    def test_its_page_stands_without_any_run(self, auditor: Client) -> None:
        assert 'class="columns"' not in text(auditor.get(f"{LIST}dashboard/?days=x"))
