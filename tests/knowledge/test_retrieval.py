"""Ingestion and retrieval on real PostgreSQL with pgvector."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from knowledge.embedding import PACKAGED_MODEL
from knowledge.errors import DocumentError
from knowledge.index import index_name
from knowledge.ingestion import CHUNK_COUNT, document_slug, ingest, process, remove, submit
from knowledge.models import Chunk, Document, DocumentStatus, Term, Vector
from knowledge.retrieval import search
from superbiz.demo.load import RUNBOOKS

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data"
GUIDE = "# 支付\n\n## 超时\n\n支付超时时先检查 HikariCP 连接池，错误码 ERR_PAY_5003。\n\n## 退款\n\n退款需要人工确认。"


def counted() -> dict[int, int]:
    return {term.term: term.chunks for term in Term.objects.exclude(chunks=0)}


def ids(query: str, limit: int = 6) -> list[str]:
    return list(dict.fromkeys(passage.document_id for passage in search(query, limit)))


def test_chunks_are_exact_slices_of_their_document() -> None:
    document = ingest("guide.md", GUIDE.encode())
    assert (document.status, document.version, document.language) == (DocumentStatus.READY, 1, "zh")
    for piece in document.chunks.all():
        assert piece.text == document.text[piece.start : piece.end]
        assert piece.embedding_model == PACKAGED_MODEL
        assert piece.vectors.exists()
    assert {piece.breadcrumb for piece in document.chunks.all()} == {"支付", "支付 > 超时", "支付 > 退款"}


def test_the_same_content_changes_nothing_and_a_new_version_replaces_the_old() -> None:
    first = ingest("guide.md", GUIDE.encode())
    keys = set(Chunk.objects.values_list("pk", flat=True))
    assert ingest("guide.md", GUIDE.encode()).version == first.version
    assert set(Chunk.objects.values_list("pk", flat=True)) == keys
    second = ingest("guide.md", "# 全新\n\n完全不同的内容：库存释放。".encode())
    assert second.version == 2
    assert ids("ERR_PAY_5003") == []
    assert ids("库存释放") == ["guide"]


def test_a_bad_file_leaves_the_old_version_serving() -> None:
    ingest("guide.md", GUIDE.encode())
    with pytest.raises(DocumentError):
        ingest("guide.md", b"")
    document = Document.objects.get(pk="guide")
    assert (document.status, document.version) == (DocumentStatus.FAILED, 1)
    assert "empty" in document.error
    assert ids("ERR_PAY_5003") == ["guide"]


def test_an_upload_serves_once_it_is_processed_and_keeps_the_old_until_then() -> None:
    ingest("guide.md", GUIDE.encode())
    submit("guide.md", "# 新\n\n新内容：网关 504。".encode())
    assert Document.objects.get(pk="guide").status == DocumentStatus.PENDING
    assert ids("ERR_PAY_5003") == ["guide"]
    process("guide")
    assert ids("网关 504") == ["guide"]
    assert Document.objects.get(pk="guide").upload is None
    submit("guide.md", b"%PDF-broken")
    process("guide")
    assert Document.objects.get(pk="guide").status == DocumentStatus.FAILED
    assert ids("网关 504") == ["guide"]


def test_a_newer_upload_survives_the_reading_of_an_older_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from knowledge import embedding, ingestion

    submit("guide.md", GUIDE.encode())
    real = embedding.embed

    def embed(texts: list[str], model: str) -> Any:
        if "退款" in " ".join(texts):
            submit("guide.md", "# 新\n\n新内容：网关 504。".encode())
        return real(texts, model)

    monkeypatch.setattr(ingestion, "embed", embed)
    process("guide")
    assert ids("ERR_PAY_5003") == ["guide"]
    assert Document.objects.get(pk="guide").status == DocumentStatus.PENDING
    process("guide")
    assert ids("网关 504") == ["guide"]


def test_an_upload_that_is_too_large_is_refused_before_it_is_kept() -> None:
    with pytest.raises(DocumentError, match="20 MB"):
        submit("guide.md", b"x" * ((20 << 20) + 1))
    assert not Document.objects.exists()


def test_term_counts_stay_exact_over_changes_and_deletion() -> None:
    ingest("guide.md", GUIDE.encode())
    one = counted()
    assert one[CHUNK_COUNT] == Chunk.objects.count()
    ingest("other.md", b"# Other\n\nCompletely different words about gateways.")
    ingest("other.md", b"# Other\n\nStill different words about inventory.")
    assert remove("other")
    assert not remove("other")
    assert counted() == one
    assert remove("guide")
    assert counted() == {}
    assert (Chunk.objects.count(), Vector.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Payment Guide.md", "payment-guide"), ("支付 手册.md", "支付-手册"), ("../../etc/passwd.txt", "passwd")],
)
def test_a_files_name_becomes_its_id(name: str, slug: str) -> None:
    assert document_slug(name) == slug


def test_a_name_without_letters_is_refused() -> None:
    with pytest.raises(DocumentError):
        document_slug("...")


@pytest.fixture
def runbooks() -> None:
    call_command("ingest", str(RUNBOOKS), str(DATA / "runbooks"), verbosity=0)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("支付超时怎么排查", "payment-timeout-guide"),
        ("ERR_PAY_5003", "error-codes"),
        ("HikariPool-1 - Connection is not available", "hikaricp-pool"),
        ("how to find long transactions", "long-transactions"),
        ("etcd has no leader", "etcdnoleader"),
        ("cpu throttling", "cputhrottlinghigh"),
        ("退款好几天没到账", "refund-guide"),
        ("payment_status 字段含义", "order-database"),
    ],
)
def test_the_right_runbook_comes_first(runbooks: None, query: str, document: str) -> None:
    assert ids(query)[0] == document


@pytest.mark.parametrize(
    "query",
    [
        "红烧肉怎么做才不腻",
        "明天北京天气怎么样",
        "写一首关于秋天的诗",
        "How do I bake sourdough bread",
        "who painted the Mona Lisa",
    ],
)
def test_a_question_about_something_else_finds_nothing(runbooks: None, query: str) -> None:
    assert search(query, 6) == []


def test_no_document_takes_more_than_two_places(runbooks: None) -> None:
    found = [passage.document_id for passage in search("支付超时", 10)]
    assert max(found.count(document) for document in found) <= 2


def test_queries_use_the_indexes(runbooks: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename IN ('knowledge_vector', 'knowledge_chunk')")
        names = {row[0] for row in cursor.fetchall()}
    assert {index_name(PACKAGED_MODEL), "chunk_lexemes"} <= names


@pytest.mark.parametrize(
    ("documents", "questions", "at_1", "at_5"),
    [("zh", "zh", 0.92, 0.985), ("en", "en", 0.92, 0.985), ("zh", "en", 0, 0.85), ("en", "zh", 0, 0.85)],
)
def test_recall_on_the_open_questions(documents: str, questions: str, at_1: float, at_5: float) -> None:
    out = StringIO()
    folder = DATA / "retrieval"
    call_command(
        "evaluate",
        "retrieval",
        documents=folder / f"xquad.{documents}.jsonl",
        questions=folder / f"xquad.{questions}.jsonl",
        stdout=out,
    )
    result: dict[str, Any] = json.loads(out.getvalue())
    assert (result["documents"], result["questions"]) == (20, 135)
    assert result["recall_at_1"] >= at_1, result
    assert result["recall_at_5"] >= at_5, result
    assert not Document.objects.exclude(collection="main").exists()


def test_commands_say_what_happened(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "bad.pdf").write_bytes(b"no pdf")
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("ingest", str(tmp_path), stdout=StringIO(), stderr=errors)
    assert ended.value.code == 1
    assert "bad.pdf" in errors.getvalue()
    out = StringIO()
    call_command("retrieve", "ERR_PAY_5003", json=True, stdout=out)
    (result, *_) = json.loads(out.getvalue())["results"]
    assert list(result) == ["document_id", "source", "title", "breadcrumb", "excerpt", "score"]
    with pytest.raises(SystemExit):
        call_command("retrieve", "红烧肉怎么做", stdout=StringIO())


@pytest.mark.django_db(transaction=True)  # each batch is a transaction of its own
def test_embedding_again_keeps_answering_until_all_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    from knowledge import embedding
    from knowledge.management.commands import reembed

    ingest("guide.md", GUIDE.encode())
    other = "packaged/renamed"
    real = embedding.embed

    def embed(texts: list[str], model: str) -> Any:
        assert ids("ERR_PAY_5003") == ["guide"]  # the old vectors serve while the new ones are made
        return real(texts, PACKAGED_MODEL)

    monkeypatch.setattr(reembed, "configured_model", lambda: other)
    monkeypatch.setattr(reembed, "embed", embed)
    call_command("reembed", stdout=StringIO(), verbosity=0)
    assert set(Chunk.objects.values_list("embedding_model", flat=True)) == {other}
    assert set(Vector.objects.values_list("embedding_model", flat=True)) == {other}
