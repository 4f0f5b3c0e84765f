"""From a file to a serving document: parse, chunk, count terms, embed, and replace the old version at once."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import connection, transaction
from django.db.models import Func, TextField, Value
from django.utils import timezone
from django.utils.translation import gettext as _
from pgvector import SparseVector

from knowledge.chunking import Slice, chunk, windows
from knowledge.embedding import configured_model, embed
from knowledge.errors import DocumentError, KnowledgeUnavailableError
from knowledge.index import ensure_index, serving_model
from knowledge.models import MAIN_COLLECTION, TERM_SPACE, Chunk, Document, DocumentStatus, Term, Vector
from knowledge.parsing import Parsed, parse
from knowledge.terms import language, term_number, terms

CHUNK_COUNT = -1  # the term that counts the chunks
TERM_CHARACTERS = 200
_K1, _B = 1.2, 0.75
_AVERAGE_TERMS = 150.0  # of a chunk of about 500 characters; a constant, so that old weights stay right
_WRITE_LOCK = 0x5B12_A6E7  # one writer at a time keeps the term counts exact


def document_slug(name: str) -> str:
    """The id of a file's document: its name without folder and extension, in lower case."""
    stem = unicodedata.normalize("NFKC", PurePath(name).stem)
    slug = re.sub(r"[^\w-]+", "-", stem.lower()).strip("-_")[:100]
    if not slug:
        raise DocumentError(_("The file's name holds no letters or digits to name the document by."))
    return slug


def ingest(name: str, content: bytes, document_id: str | None = None, collection: str = MAIN_COLLECTION) -> Document:
    """Take a file in, under the slug of its name unless `document_id` says another.

    The same content again changes nothing. A file that cannot be read raises `DocumentError`; the document then
    says why, and a version that was serving goes on serving.
    """
    slug = document_id or document_slug(name)
    digest = hashlib.sha256(content).hexdigest()
    known = Document.objects.filter(pk=slug).first()
    if known is not None and known.content_hash == digest and known.status == DocumentStatus.READY:
        return known
    source = PurePath(name).name[:255]
    try:
        parsed = parse(source, content, settings.SUPERBIZ.knowledge.max_document_bytes)
    except DocumentError as error:
        _fail(slug, source, collection, error)
        raise
    return store(slug, source, parsed, digest, collection)


def store(slug: str, source: str, parsed: Parsed, digest: str, collection: str = MAIN_COLLECTION) -> Document:
    """Replace a document's text, chunks and vectors in one transaction."""
    model = serving_model(collection) or configured_model()
    title = parsed.title or PurePath(source).stem
    slices = chunk(parsed.text, parsed.blocks, settings.SUPERBIZ.knowledge.chunk_characters)
    document = Document(
        pk=slug,
        collection=collection,
        source=source,
        title=title,
        content_hash=digest,
        status=DocumentStatus.READY,
        language=language(parsed.text),
        text=parsed.text,
        created_at=timezone.now(),
    )
    chunks = [_chunk(document, ordinal, piece, title, model) for ordinal, piece in enumerate(slices)]
    texts = [_windows(item, title) for item in chunks]
    vectors = iter(embed([text for several in texts for text in several], model))
    rows = [[next(vectors) for _ in several] for several in texts]
    with transaction.atomic():
        lock_writes()
        if serving_model(collection) in (None, model):
            _replace(document, chunks, rows, model)
            return document
    return store(slug, source, parsed, digest, collection)  # all was embedded anew meanwhile


def _replace(document: Document, chunks: list[Chunk], rows: list[list[Any]], model: str) -> None:
    """Within the writer's transaction: the new version instead of the old one."""
    slug, collection = document.pk, document.collection
    before = Document.objects.filter(pk=slug).first()
    document.version = 1 if before is None else before.version + 1
    if before is not None:
        document.created_at = before.created_at
        if before.upload is not None and hashlib.sha256(before.upload).hexdigest() != document.content_hash:
            # A newer file came while this one was read: it goes on waiting for its worker.
            document.upload, document.status = before.upload, DocumentStatus.PENDING
    _count_terms(collection, _lexemes_of(slug), -1)
    Chunk.objects.filter(document_id=slug).delete()
    document.save()
    Chunk.objects.bulk_create(chunks, batch_size=500)
    _count_terms(collection, _lexemes_of(slug), 1)
    if rows:
        ensure_index(model, len(rows[0][0]))
    Vector.objects.bulk_create(
        (
            Vector(chunk=item, collection=collection, embedding_model=model, embedding=vector)
            for item, several in zip(chunks, rows, strict=True)
            for vector in several
        ),
        batch_size=500,
    )


def lock_writes() -> None:
    """One writer at a time until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_WRITE_LOCK])


def remove(document_id: str) -> bool:
    """Delete a document with its chunks. False if there is none."""
    with transaction.atomic():
        lock_writes()
        document = Document.objects.filter(pk=document_id).first()
        if document is None:
            return False
        _count_terms(document.collection, _lexemes_of(document_id), -1)
        document.delete()
    return True


def submit(name: str, content: bytes) -> Document:
    """Keep an upload for a worker. A serving version goes on serving. Raises `DocumentError` for a bad name or size."""
    limit = settings.SUPERBIZ.knowledge.max_document_bytes
    if len(content) > limit:
        raise DocumentError(_("The file is larger than %(size)d MB.") % {"size": limit >> 20})
    slug = document_slug(name)
    document, _created = Document.objects.get_or_create(pk=slug, defaults={"source": PurePath(name).name[:255]})
    Document.objects.filter(pk=slug).update(
        source=PurePath(name).name[:255],
        upload=content,
        status=DocumentStatus.PENDING,
        error="",
        updated_at=timezone.now(),
    )
    document.refresh_from_db()
    return document


def process(document_id: str) -> None:
    """Ingest a kept upload. A bad file leaves its reason on the document."""
    document = Document.objects.filter(pk=document_id, upload__isnull=False).first()
    if document is None or document.upload is None:
        return
    content = bytes(document.upload)
    digest = hashlib.sha256(content).hexdigest()
    if digest == document.content_hash:
        Document.objects.filter(pk=document_id).update(status=DocumentStatus.READY, upload=None)
        return
    try:
        parsed = parse(document.source, content, settings.SUPERBIZ.knowledge.max_document_bytes)
    except DocumentError as error:
        _fail(document_id, document.source, document.collection, error)
        return
    try:
        store(document_id, document.source, parsed, digest, document.collection)
    except KnowledgeUnavailableError:
        away = DocumentError(_("The embedding model does not answer. Upload the file again."))
        _fail(document_id, document.source, document.collection, away)


def weights(counts: Counter[str]) -> SparseVector:
    """BM25's part of a chunk: for each hashed term tf·(k1+1) / (tf + k1·(1 − b + b·length/average))."""
    length = counts.total()
    norm = _K1 * (1 - _B + _B * length / _AVERAGE_TERMS)
    values: dict[int, float] = {}
    for term, count in counts.items():
        number = term_number(term[:TERM_CHARACTERS])
        values[number] = max(values.get(number, 0.0), count * (_K1 + 1) / (count + norm))
    return SparseVector(values or {0: 1e-6}, TERM_SPACE)


def _chunk(document: Document, ordinal: int, piece: Slice, title: str, model: str) -> Chunk:
    text = document.text[piece.start : piece.end]
    counts = terms(f"{title} {piece.breadcrumb}\n{text}")
    lexemes = Value(sorted({term[:TERM_CHARACTERS] for term in counts}), ArrayField(TextField()))
    return Chunk(
        document=document,
        collection=document.collection,
        ordinal=ordinal,
        breadcrumb=piece.breadcrumb,
        text=text,
        start=piece.start,
        end=piece.end,
        lexemes=Func(lexemes, function="array_to_tsvector", output_field=SearchVectorField()),
        weights=weights(counts),
        embedding_model=model,
    )


def _windows(item: Chunk, title: str) -> list[str]:
    """What is embedded of a chunk: its sentences, and the whole under its headings."""
    parts = windows(item.text)
    whole = f"{item.breadcrumb or title}\n{item.text}"
    return [whole] if len(parts) == 1 and not item.breadcrumb else [*parts, whole]


def vector_texts(item: Chunk) -> list[str]:
    """The same for a stored chunk, for embedding again."""
    return _windows(item, item.document.title)


def _fail(slug: str, source: str, collection: str, error: DocumentError) -> None:
    defaults = {"source": source, "status": DocumentStatus.FAILED, "error": error.message[:300], "upload": None}
    Document.objects.update_or_create(
        pk=slug, defaults=defaults, create_defaults={**defaults, "collection": collection}
    )


def _lexemes_of(slug: str) -> list[list[str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tsvector_to_array(lexemes) FROM knowledge_chunk WHERE document_id = %s", [slug])
        return [list(row[0]) for row in cursor.fetchall()]


def _count_terms(collection: str, chunks: Sequence[Iterable[str]], sign: int) -> None:
    if not chunks:
        return
    counts = Counter(number for found in chunks for number in {term_number(term) for term in found})
    counts[CHUNK_COUNT] = len(chunks)
    Term.objects.bulk_create(
        (Term(collection=collection, term=term, chunks=0) for term in sorted(counts)), ignore_conflicts=True
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE knowledge_term SET chunks = chunks + delta"
            " FROM unnest(%s::int[], %s::int[]) AS changed(number, delta)"
            " WHERE collection = %s AND term = number",
            [list(counts), [sign * count for count in counts.values()], collection],
        )
