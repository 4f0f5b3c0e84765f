"""`GET /api/diagnosis/runs` and its export."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import AsyncClient, Client
from pytest_django import DjangoAssertNumQueries

from audit import api
from audit.database import on_database_thread
from audit.models import DiagnosisRun
from tests.audit.clients import client_of
from tests.audit.factories import STARTED, RunFactory, SessionFactory
from tests.cast import Cast, make_cast

LIST = "/api/diagnosis/runs"


def found(cast: Cast, query: str = "", name: str = "auditor") -> list[str]:
    response = client_of(cast, name).get(LIST + query)
    assert response.status_code == 200, response.json()
    return [run["run_id"] for run in response.json()["results"]]


@pytest.mark.parametrize(
    ("name", "status"),
    [("anonymous", 401), ("owner", 403), ("editor", 403), ("auditor", 200), ("reasoning", 200), ("admin", 200)],
)
@pytest.mark.parametrize("address", [LIST, f"{LIST}/export"])
def test_it_is_for_auditors(cast: Cast, name: str, status: int, address: str) -> None:
    assert client_of(cast, name).get(address).status_code == status


def test_runs_come_newest_first_and_page_by_cursor(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.RunPages, "page_size", 2)
    runs = [RunFactory.create(started_at=STARTED + timedelta(minutes=n)) for n in range(5)]
    client = client_of(cast, "auditor")
    pages, address = [], LIST
    while address:
        page = client.get(address).json()
        pages.append([run["run_id"] for run in page["results"]])
        address = page["next"]
    newest = [str(run.pk) for run in reversed(runs)]
    assert pages == [newest[:2], newest[2:4], newest[4:]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?status=FALLBACK", ["fallback"]),
        ("?intent=KNOWLEDGE_QUERY", ["question"]),
        ("?user=owner", ["question"]),
        ("?user=own", []),
        ("?since=2026-03-01T08:31:00Z", ["question", "fallback"]),
        ("?until=2026-03-01T08:31:00Z", ["failed"]),
        ("?since=2026-03-01T08:31:00Z&until=2026-03-01T08:32:00Z", ["fallback"]),
        ("?q=ERR_PAY", ["question"]),
        ("?q=err_pay_5003", ["question"]),
        ("?status=FAILED&intent=DIAGNOSIS", ["failed"]),
        ("?status=FAILED&intent=KNOWLEDGE_QUERY", []),
    ],
)
def test_conditions_narrow_the_list(cast: Cast, query: str, expected: list[str]) -> None:
    runs = {
        "failed": RunFactory.create(failed=True),
        "fallback": RunFactory.create(fallback=True, started_at=STARTED + timedelta(minutes=1)),
        "question": RunFactory.create(
            session=SessionFactory.create(user=cast.owner),
            intent="KNOWLEDGE_QUERY",
            user_query="ERR_PAY_5003 是什么",
            started_at=STARTED + timedelta(minutes=2),
        ),
    }
    assert found(cast, query) == [str(runs[name].pk) for name in expected]


def test_ids_are_looked_up_exactly(cast: Cast) -> None:
    run = RunFactory.create()
    sibling = RunFactory.create(session=run.session, started_at=STARTED + timedelta(minutes=1))
    RunFactory.create()
    assert found(cast, f"?q={run.pk}") == [str(run.pk)]
    assert found(cast, f"?q={run.session_id}") == [str(sibling.pk), str(run.pk)]
    assert found(cast, f"?q={str(run.pk)[:-1]}") == []


@pytest.mark.parametrize("query", ["?status=DONE", "?intent=chat", "?since=yesterday", f"?q={'x' * 201}"])
def test_conditions_that_mean_nothing_are_refused(cast: Cast, query: str) -> None:
    for address in (LIST, f"{LIST}/export"):
        refused = client_of(cast, "auditor").get(address + query)
        assert refused.status_code == 400
        assert (refused.json()["code"], len(refused.json()["errors"])) == ("INVALID_REQUEST", 1)


def test_a_page_takes_one_query_for_all_its_runs(
    cast: Cast, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(10):
        RunFactory.create()
    client.force_login(cast.admin)
    with django_assert_num_queries(3):  # session, user, runs
        assert len(client.get(LIST).json()["results"]) == 10


async def test_the_export_streams_all_runs_as_ndjson(
    transactional_db: None, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "EXPORT_BATCH", 2)

    def prepare() -> tuple[Cast, list[DiagnosisRun]]:
        same_moment = [RunFactory.create(user_query="订单\n超时") for _ in range(3)]
        later = RunFactory.create(started_at=STARTED + timedelta(minutes=1))
        return make_cast(), [later, *sorted(same_moment, key=lambda run: run.pk, reverse=True)]

    cast, runs = await on_database_thread(prepare)
    await async_client.aforce_login(cast.auditor)
    response: Any = await async_client.get(f"{LIST}/export?status=SUCCEEDED")
    assert response["Content-Type"] == "application/x-ndjson"
    lines = b"".join([chunk async for chunk in response.streaming_content]).decode().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["run_id"] for row in rows] == [str(run.pk) for run in runs]
    assert rows[-1]["user_query"] == "订单\n超时"
    assert "released_content" not in rows[0]
