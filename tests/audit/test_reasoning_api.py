"""`GET /api/diagnosis/{session}/trace/reasoning`: restricted, and every attempt is logged."""

from uuid import uuid4

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from audit import api
from audit.management.commands import rotate_reasoning_keys
from audit.models import AgentReasoningAudit, DiagnosisRun, ReasoningAccess
from audit.vault import Vault, VaultError
from tests.audit.clients import client_of
from tests.audit.factories import ReasoningFactory, RunFactory, SessionFactory, StepFactory, full_run
from tests.cast import Cast

TEXT = "先看日志, then the pool"


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> Vault:
    vault = Vault(Fernet.generate_key().decode())
    monkeypatch.setattr(api, "get_vault", lambda: vault)
    return vault


@pytest.fixture
def run(cast: Cast, vault: Vault) -> DiagnosisRun:
    run: DiagnosisRun = RunFactory.create(session=SessionFactory.create(user=cast.owner))
    ReasoningFactory.create(
        step=StepFactory.create(run=run, step_index=1),
        reasoning_available=True, provider_field="thinking", reasoning_content=vault.seal(TEXT), content_bytes=30,
    )  # fmt: skip
    ReasoningFactory.create(step=StepFactory.create(run=run, step_index=2))
    return run


def url(run: DiagnosisRun, query: str | None = None) -> str:
    return f"/api/diagnosis/{run.session_id}/trace/reasoning{f'?runId={run.pk}' if query is None else query}"


def test_a_reasoning_auditor_reads_what_the_provider_returned(cast: Cast, run: DiagnosisRun) -> None:
    found = client_of(cast, "reasoning").get(url(run)).json()
    assert (found["session_id"], found["run_id"]) == (str(run.session_id), str(run.pk))
    assert [list(item) for item in found["items"]] == [
        [
            "step_index",
            "purpose",
            "reasoning_available",
            "reasoning_content",
            "content_bytes",
            "truncated",
            "created_at",
        ]
    ] * 2
    first, second = found["items"]
    assert (first["reasoning_available"], first["reasoning_content"], first["content_bytes"]) == (True, TEXT, 30)
    assert (second["reasoning_available"], second["reasoning_content"], second["content_bytes"]) == (False, None, 0)


@pytest.mark.parametrize(
    ("name", "status"),
    [("anonymous", 401), ("owner", 403), ("other", 403), ("auditor", 403), ("editor", 403), ("reasoning", 200),
     ("admin", 200)],
)  # fmt: skip
def test_every_attempt_is_logged_refused_ones_too(cast: Cast, run: DiagnosisRun, name: str, status: int) -> None:
    response = client_of(cast, name).get(url(run), headers={"X-Forwarded-For": "203.0.113.9"})
    assert response.status_code == status
    assert (TEXT in response.content.decode()) == (status == 200)
    entry = ReasoningAccess.objects.get()
    who = None if name == "anonymous" else cast[name]
    assert (entry.user, entry.run_id, entry.session_id) == (who, run.pk, run.session_id)
    assert (entry.granted, entry.http_status, entry.remote_address) == (status == 200, status, "127.0.0.1")


def test_the_run_is_required_and_belongs_to_the_session(cast: Cast, run: DiagnosisRun) -> None:
    client = client_of(cast, "reasoning")
    missing = client.get(url(run, ""))
    assert (missing.status_code, list(missing.json()["errors"])) == (400, ["runId"])
    assert client.get(url(run, "?runId=x")).status_code == 400
    assert client.get(url(run, f"?runId={RunFactory.create().pk}")).status_code == 404
    assert client.get(url(run, f"?runId={uuid4()}")).status_code == 404
    assert list(ReasoningAccess.objects.order_by("pk").values_list("http_status", "granted")) == [
        (400, False), (400, False), (404, False), (404, False),
    ]  # fmt: skip


def test_content_whose_key_is_gone_is_an_error_and_not_nothing(
    cast: Cast, run: DiagnosisRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "get_vault", lambda: Vault(Fernet.generate_key().decode()))
    answer = client_of(cast, "reasoning").get(url(run))
    assert (answer.status_code, answer.json()["code"]) == (500, "REASONING_UNREADABLE")
    assert (ReasoningAccess.objects.get().granted, ReasoningAccess.objects.get().http_status) == (False, 500)


@pytest.mark.parametrize("method", ["head", "options", "post", "delete"])
def test_no_other_method_reads_or_counts_as_reading(cast: Cast, run: DiagnosisRun, method: str) -> None:
    answer = getattr(client_of(cast, "reasoning"), method)(url(run))
    assert (answer.status_code, ReasoningAccess.objects.filter(granted=True).count()) == (405, 0)


def test_permission_comes_before_everything_that_tells_whether_a_run_exists(cast: Cast, run: DiagnosisRun) -> None:
    assert client_of(cast, "owner").get(url(run, f"?runId={uuid4()}")).status_code == 403
    assert client_of(cast, "owner").get(url(run, "")).status_code == 403


def test_reasoning_is_in_no_other_answer(cast: Cast, vault: Vault) -> None:
    run = full_run()
    sealed = vault.seal(TEXT)
    AgentReasoningAudit.objects.filter(run=run, step__step_index=1).update(
        reasoning_available=True, reasoning_content=sealed, content_bytes=30
    )
    for address in (f"/api/diagnosis/{run.session_id}/trace", "/api/diagnosis/runs"):
        answer = client_of(cast, "reasoning").get(address).content.decode()
        assert TEXT not in answer
        assert sealed not in answer


class TestRotation:
    def test_content_moves_to_the_newest_key(self, run: DiagnosisRun, vault: Vault, monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
        old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
        AgentReasoningAudit.objects.filter(reasoning_available=True).update(reasoning_content=Vault(old).seal(TEXT))
        monkeypatch.setattr(rotate_reasoning_keys, "get_vault", lambda: Vault(f"{new},{old}"))
        call_command("rotate_reasoning_keys")
        assert capsys.readouterr().out == '{"rotated": 1, "unreadable": 0}\n'
        stored = AgentReasoningAudit.objects.get(reasoning_available=True).reasoning_content
        assert stored is not None
        assert Vault(new).open(stored) == TEXT
        with pytest.raises(VaultError):
            Vault(old).open(stored)

    def test_what_no_key_fits_stays_and_is_said(
        self, run: DiagnosisRun, vault: Vault, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = AgentReasoningAudit.objects.get(reasoning_available=True).reasoning_content
        monkeypatch.setattr(rotate_reasoning_keys, "get_vault", lambda: Vault(Fernet.generate_key().decode()))
        with pytest.raises(CommandError, match="1 contents"):
            call_command("rotate_reasoning_keys")
        assert AgentReasoningAudit.objects.get(reasoning_available=True).reasoning_content == before

    def test_without_a_key_it_refuses(self, run: DiagnosisRun) -> None:
        with pytest.raises(CommandError, match="SUPERBIZ_REASONING_KEYS is empty"):
            call_command("rotate_reasoning_keys")


def test_what_is_no_key_is_named_without_being_shown() -> None:
    with pytest.raises(VaultError) as refused:
        Vault("my-secret-but-malformed-key")
    assert "malformed" not in str(refused.value)
