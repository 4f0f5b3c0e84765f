"""The vector index of each embedding model, and which model serves."""

import hashlib

from django.db import connection

from knowledge.models import MAIN_COLLECTION, Chunk

HNSW_MAX_DIMENSIONS = 2000  # pgvector's bound for an indexed `vector`


def serving_model(collection: str = MAIN_COLLECTION) -> str | None:
    """The model whose vectors answer queries: that of the chunks. None without chunks."""
    return Chunk.objects.filter(collection=collection).values_list("embedding_model", flat=True).first()


def index_name(model: str) -> str:
    return f"knowledge_vector_{hashlib.sha256(model.encode()).hexdigest()[:16]}"


def ensure_index(model: str, dimensions: int) -> None:
    """Make the model's HNSW index unless it is there. Larger vectors than pgvector can index are refused."""
    if dimensions > HNSW_MAX_DIMENSIONS:
        raise ValueError(f"embeddings of {dimensions} dimensions cannot be indexed; at most {HNSW_MAX_DIMENSIONS} can")
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [index_name(model)])
        if cursor.fetchone() != (None,):
            return  # asking to create it again is refused while rows of this transaction wait for their triggers
        cursor.execute(
            f"CREATE INDEX IF NOT EXISTS {index_name(model)} ON knowledge_vector"
            f" USING hnsw ((embedding::vector({int(dimensions)})) vector_cosine_ops)"
            f" WHERE embedding_model = {_literal(model)}"
        )


def drop_index(model: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {index_name(model)}")


def _literal(text: str) -> str:
    """An index predicate takes no parameters. Model names are plain words; anything else is refused."""
    if not all(character.isalnum() or character in "-_./:@" for character in text):
        raise ValueError("the name of the embedding model holds a character that is not allowed")
    return f"'{text}'"
