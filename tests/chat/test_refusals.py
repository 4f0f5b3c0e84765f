"""What `POST /api/chat` answers before any stream begins. Each test differs from a good request in one thing."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone
from rest_framework.authtoken.models import Token

from audit.models import ChatSession, DiagnosisRun
from chat.runtime import Runtime
from tests.audit.factories import RunFactory, SessionFactory
from tests.cast import Cast, token_header


async def ask(
    user: User | None = None,
    values: dict[str, Any] | None = None,
    *,
    client: AsyncClient | None = None,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    content_type: str = "application/json",
    method: str = "POST",
) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Status, JSON body and headers of the answer."""
    sent = dict(headers or {})
    if user is not None:
        sent |= await sync_to_async(token_header)(user)
    content = body if body is not None else json.dumps(values or {"query": "q"}).encode()
    response = await (client or AsyncClient()).generic(
        method, "/api/chat", content, content_type=content_type, headers=sent
    )
    assert response.headers["Content-Type"].startswith("application/json")
    return response.status_code, response.json(), dict(response.headers)


@pytest.fixture(autouse=True)
async def nothing_was_opened(runtime: Runtime, transactional_db: None) -> AsyncIterator[None]:
    """A refusal leaves no run behind: those here were made by the tests themselves."""
    yield
    assert not await DiagnosisRun.objects.exclude(instance="host-1").aexists()
    assert len(runtime.registry) == 0


async def test_400_names_the_field(cast: Cast) -> None:
    status, body, _ = await ask(cast.owner, {"query": ""})
    assert (status, body["code"], list(body["errors"])) == (400, "INVALID_REQUEST", ["query"])
    assert set(body) == {"code", "message", "errors"}


async def test_401_without_session_or_token() -> None:
    status, body, headers = await ask()
    assert (status, body["code"], set(body)) == (401, "NOT_AUTHENTICATED", {"code", "message"})
    assert headers["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("value", ["Token nonsense", "Token", "Token a b", "Token \xff"])
async def test_401_with_a_bad_token(transactional_db: None, value: str) -> None:
    status, body, _ = await ask(headers={"Authorization": value})
    assert (status, body["code"]) == (401, "NOT_AUTHENTICATED")


async def test_401_for_a_user_who_was_switched_off(cast: Cast) -> None:
    await User.objects.filter(pk=cast.owner.pk).aupdate(is_active=False)
    status, body, _ = await ask(cast.owner)
    assert (status, body["code"]) == (401, "NOT_AUTHENTICATED")


async def test_403_for_a_session_without_its_csrf_token(cast: Cast) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(cast.owner)
    status, body, _ = await ask(client=client)
    assert (status, body["code"]) == (403, "PERMISSION_DENIED")


async def test_a_session_with_its_csrf_token_passes(cast: Cast) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(cast.owner)
    client.cookies["csrftoken"] = "a" * 32
    status, _, _ = await ask(client=client, headers={"X-CSRFToken": "a" * 32}, body=b"[]")
    assert status == 400


@pytest.mark.parametrize("which", ["none", "another's", "hidden"])
async def test_404_is_the_same_for_a_session_that_is_not_there_not_ones_own_or_hidden(cast: Cast, which: str) -> None:
    session_id = uuid4()
    if which != "none":
        values = {"hidden_at": timezone.now()} if which == "hidden" else {}
        owner = cast.owner if which == "hidden" else cast.other
        session_id = (await sync_to_async(SessionFactory.create)(user=owner, **values)).pk
    status, body, _ = await ask(cast.owner, {"query": "q", "session_id": str(session_id)})
    assert (status, body) == (404, {"code": "SESSION_NOT_FOUND", "message": body["message"]})


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_405_for_every_other_method(cast: Cast, method: str) -> None:
    status, body, headers = await ask(cast.owner, method=method)
    assert (status, body["code"], headers["Allow"]) == (405, "METHOD_NOT_ALLOWED", "POST")


async def test_406_when_event_streams_are_not_accepted(cast: Cast) -> None:
    status, body, _ = await ask(cast.owner, headers={"Accept": "application/json"})
    assert (status, body["code"]) == (406, "NOT_ACCEPTABLE")


async def test_409_while_the_session_answers_another_question(cast: Cast) -> None:
    run = await sync_to_async(RunFactory.create)(session__user=cast.owner, running=True)
    status, body, _ = await ask(cast.owner, {"query": "q", "session_id": str(run.session_id)})
    assert (status, body["code"]) == (409, "SESSION_BUSY")
    assert await ChatSession.objects.acount() == 1


async def test_413_for_a_body_that_is_too_large(cast: Cast) -> None:
    status, body, _ = await ask(cast.owner, body=b" " * (64 * 1024 + 1))
    assert (status, body["code"]) == (413, "REQUEST_TOO_LARGE")


async def test_415_for_a_form(cast: Cast) -> None:
    status, body, _ = await ask(cast.owner, body=b"query=q", content_type="application/x-www-form-urlencoded")
    assert (status, body["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


async def test_429_when_the_user_has_too_many_runs(cast: Cast, runtime: Runtime) -> None:
    places = [uuid4() for _ in range(runtime.services.settings.limits.runs_per_user)]
    for run_id in places:
        assert await runtime.limit.take(cast.owner.pk, run_id)
    status, body, headers = await ask(cast.owner)
    assert (status, body["code"]) == (429, "TOO_MANY_RUNS")
    assert int(headers["Retry-After"]) > 0
    for run_id in places:
        await runtime.limit.give_back(cast.owner.pk, run_id)


async def test_503_when_the_process_is_full(cast: Cast, runtime: Runtime) -> None:
    for _ in range(runtime.services.settings.limits.runs_per_process):
        runtime.registry.reserve()
    status, body, headers = await ask(cast.owner)
    assert (status, body["code"]) == (503, "BUSY")
    assert int(headers["Retry-After"]) > 0


async def test_503_while_the_process_drains(cast: Cast, runtime: Runtime) -> None:
    await runtime.drain()
    assert runtime.draining
    status, body, headers = await ask(cast.owner)
    assert (status, body["code"], "Retry-After" in headers) == (503, "BUSY", True)


async def test_a_refused_question_gives_its_place_back(cast: Cast, runtime: Runtime) -> None:
    for _ in range(runtime.services.settings.limits.runs_per_user + 1):
        status, _, _ = await ask(cast.owner, {"query": "q", "session_id": str(uuid4())})
        assert status == 404


async def test_tokens_are_not_guessed_from_names(cast: Cast) -> None:
    key = await Token.objects.aget(user=cast.owner)
    status, _, _ = await ask(headers={"Authorization": f"Token {key.key.upper()}x"})
    assert status == 401
