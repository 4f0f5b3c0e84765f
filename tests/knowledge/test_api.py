"""Documents and retrieval over HTTP: who may what, and the shape of errors."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from knowledge.ingestion import ingest
from knowledge.models import Document
from tests.cast import ROLES, Cast, make_cast, token_header

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return make_cast()


@pytest.fixture
def read_later(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would go to the worker; its queue is Celery's, not ours."""
    sent: list[str] = []
    monkeypatch.setattr("knowledge.tasks.read_upload.delay", sent.append)
    return sent


def as_role(cast: Cast, role: str | None) -> dict[str, Any]:
    return {} if role is None else token_header(cast[role])


def test_everybody_with_an_account_reads(cast: Cast) -> None:
    ingest("guide.md", b"# Guide\n\nERR_PAY_5003 means a time-out.")
    client = Client()
    for path in ("/api/documents", "/api/documents/guide", "/api/retrieval?query=ERR_PAY_5003"):
        assert client.get(path).status_code == 401
        for role in ROLES:
            assert client.get(path, headers=as_role(cast, role)).status_code == 200, (path, role)


def test_only_editors_write(cast: Cast, read_later: list[str], django_capture_on_commit_callbacks: Any) -> None:
    client = Client()
    for role in (None, *ROLES):
        allowed = role in {"editor", "admin"}
        ingest("guide.md", f"# Guide\n\n{role}".encode())
        with django_capture_on_commit_callbacks(execute=True):
            sent = client.post(
                "/api/documents", {"file": SimpleUploadedFile("new.md", b"# New")}, headers=as_role(cast, role)
            )
        gone = client.delete("/api/documents/guide", headers=as_role(cast, role))
        expected = (202, 204) if allowed else (401, 401) if role is None else (403, 403)
        assert (sent.status_code, gone.status_code) == expected, role
        assert Document.objects.filter(pk="guide").exists() is not allowed
    assert read_later == ["new", "new"]


@pytest.mark.parametrize(
    ("path", "code", "status"),
    [
        ("/api/documents/nothing", "NOT_FOUND", 404),
        ("/api/retrieval", "INVALID_REQUEST", 400),
        ("/api/retrieval?query=x&limit=0", "INVALID_REQUEST", 400),
        (f"/api/retrieval?query={'x' * 501}", "INVALID_REQUEST", 400),
    ],
)
def test_errors_have_one_shape(cast: Cast, path: str, code: str, status: int) -> None:
    answer = Client().get(path, headers=as_role(cast, "owner"))
    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert answer.json()["message"]


def test_a_file_without_a_name_to_use_is_refused(cast: Cast) -> None:
    answer = Client().post(
        "/api/documents", {"file": SimpleUploadedFile("....md", b"x")}, headers=as_role(cast, "editor")
    )
    assert answer.status_code == 400
    assert "file" in answer.json()["errors"]


def test_the_admin_uploads_several_files(
    cast: Cast, read_later: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    client = Client()
    client.force_login(cast["editor"])
    assert client.get("/admin/knowledge/document/add/").status_code == 200
    files = [SimpleUploadedFile("one.md", b"# One"), SimpleUploadedFile("two.md", b"# Two")]
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/admin/knowledge/document/add/", {"documents": files}, follow=True)
    assert answer.status_code == 200
    assert read_later == ["one", "two"]
    assert set(Document.objects.values_list("pk", flat=True)) == {"one", "two"}
    client.post("/admin/knowledge/document/one/delete/", {"post": "yes"})
    assert not Document.objects.filter(pk="one").exists()


def test_the_admin_of_others_shows_no_documents(cast: Cast) -> None:
    client = Client()
    client.force_login(cast["auditor"])
    assert client.get("/admin/knowledge/document/").status_code == 403
    assert client.get("/admin/knowledge/document/add/").status_code == 403
