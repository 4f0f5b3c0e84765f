"""Documents, their chunks, and what retrieval needs of them. Source: 06-knowledge."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import SparseVectorField, VectorField

MAIN_COLLECTION = "main"
TERM_SPACE = 10**9  # terms are hashed into this many dimensions, all that pgvector has


class DocumentStatus(models.TextChoices):
    PENDING = "PENDING", _("waiting")
    READY = "READY", _("ready")
    FAILED = "FAILED", _("failed")


class Document(models.Model):
    """One document under a stable slug. A version that fails leaves the one before it serving.

    `status` and `error` speak of the latest upload; `version` counts those that were taken over.
    """

    document_id = models.SlugField(_("document"), max_length=100, primary_key=True, allow_unicode=True)
    collection = models.CharField(max_length=40, default=MAIN_COLLECTION, editable=False)
    source = models.CharField(_("file"), max_length=255)
    title = models.CharField(_("title"), max_length=200, blank=True)
    content_hash = models.CharField(max_length=64, blank=True, editable=False)  # SHA-256 of the file; "" before READY
    status = models.CharField(_("state"), max_length=8, choices=DocumentStatus, default=DocumentStatus.PENDING)
    error = models.CharField(_("error"), max_length=300, blank=True)
    language = models.CharField(_("language"), max_length=10, blank=True)
    version = models.PositiveIntegerField(_("version"), default=0)
    text = models.TextField(blank=True, editable=False)  # what chunks are slices of
    upload = models.BinaryField(null=True, editable=False)  # the file until a worker has read it
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        db_table = "knowledge_document"
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ("document_id",)
        indexes = (models.Index(fields=["collection"], name="document_collection"),)

    def __str__(self) -> str:
        return self.document_id


class Chunk(models.Model):
    """An exact slice of its document: `text == document.text[start:end]`."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="chunks")
    collection = models.CharField(max_length=40, default=MAIN_COLLECTION)
    ordinal = models.PositiveIntegerField()
    breadcrumb = models.CharField(max_length=500, blank=True)
    text = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    lexemes = SearchVectorField()  # the terms, for finding candidates
    weights = SparseVectorField(dimensions=TERM_SPACE)  # BM25's part of the document, per hashed term
    embedding_model = models.CharField(max_length=100)

    class Meta:
        db_table = "knowledge_chunk"
        constraints = (
            models.UniqueConstraint(fields=["document", "ordinal"], name="chunk_ordinal"),
            models.CheckConstraint(condition=models.Q(end__gt=models.F("start")), name="chunk_not_empty"),
        )
        indexes = (GinIndex(fields=["lexemes"], name="chunk_lexemes"),)

    def __str__(self) -> str:
        return f"{self.document_id} {self.ordinal}"


class Vector(models.Model):
    """The embedding of a chunk or of one window of it; the closest one of a chunk counts.

    A table of its own: a chunk has several, and while a new model embeds, those of two models. Each model has
    an HNSW index of its own, made when its first vectors are stored (`knowledge.index`).
    """

    chunk = models.ForeignKey(Chunk, models.CASCADE, related_name="vectors")
    collection = models.CharField(max_length=40, default=MAIN_COLLECTION)
    embedding_model = models.CharField(max_length=100)
    embedding = VectorField()

    class Meta:
        db_table = "knowledge_vector"

    def __str__(self) -> str:
        return f"vector {self.pk}"


class Term(models.Model):
    """In how many chunks of a collection a hashed term occurs; term -1 counts the chunks."""

    collection = models.CharField(max_length=40)
    term = models.IntegerField()
    chunks = models.IntegerField()

    class Meta:
        db_table = "knowledge_term"
        constraints = (models.UniqueConstraint(fields=["collection", "term"], name="term_of_collection"),)

    def __str__(self) -> str:
        return str(self.term)
