"""Hybrid retrieval: BM25 over terms and cosine over sentences, fused by score. Source: 06-knowledge, "Retrieval".

Both sides find candidates by an index; then both scores of every candidate are computed exactly.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from pgvector import SparseVector, Vector

from knowledge.embedding import embed
from knowledge.index import serving_model
from knowledge.ingestion import CHUNK_COUNT, TERM_CHARACTERS
from knowledge.models import MAIN_COLLECTION, TERM_SPACE, Term
from knowledge.terms import term_number, terms

MAX_QUERY_CHARACTERS = 500
_CANDIDATES = 60
_LEXICAL_ROWS = 4_000  # chunks whose BM25 may be computed for one query
_PER_DOCUMENT = 2
_WORDS_WEIGHT, _COSINE_WEIGHT = 0.55, 0.45
_NEAR_BEST = 0.5  # passages further from the best than this share are left out
_FULL_MATCH = 1.4  # BM25 of a chunk of usual length that holds every term, over the terms' IDF
_FIELD_FROM = 5  # candidates after the first few are the field that the best is compared with


@dataclass(frozen=True, slots=True)
class Passage:
    """One found chunk; `excerpt` is an exact slice of the document."""

    document_id: str
    source: str
    title: str
    breadcrumb: str
    excerpt: str
    score: float


@dataclass(slots=True)
class _Candidate:
    chunk_id: int
    document_id: str
    bm25: float
    cosine: float


def search(query: str, limit: int, collection: str = MAIN_COLLECTION) -> list[Passage]:
    """The passages about `query`, best first, at most two a document; none when nothing is relevant.

    Blocks; off the event loop only. Raises `django.db.DatabaseError` when PostgreSQL is away.
    """
    query = query[:MAX_QUERY_CHARACTERS]
    model = serving_model(collection)
    if model is None:
        return []
    vector = str(Vector(embed([query], model)[0]).to_text())
    with transaction.atomic(), connection.cursor() as cursor:
        idf = _inverse_frequencies(query, collection)
        weighted = _sparse({term_number(term[:TERM_CHARACTERS]): weight for term, (weight, _) in idf.items()})
        found = set(_by_words(cursor, idf, weighted, collection))
        found.update(_by_meaning(cursor, vector, model, collection))
        candidates = _scored(cursor, sorted(found), weighted, vector, model)
        chosen = _choose(candidates, sum(weight for weight, _ in idf.values()), limit)
        return _passages(cursor, chosen)


def _inverse_frequencies(query: str, collection: str) -> dict[str, tuple[float, int]]:
    """Each term of the query that occurs: its IDF and in how many chunks it is. Others weigh nothing."""
    wanted = {term: term_number(term[:TERM_CHARACTERS]) for term in terms(query)}
    counts = dict(
        Term.objects.filter(collection=collection, term__in=[*wanted.values(), CHUNK_COUNT]).values_list(
            "term", "chunks"
        )
    )
    total = counts.get(CHUNK_COUNT, 0)
    return {
        term: (
            math.log(1 + (total - counts.get(number, 0) + 0.5) / (counts.get(number, 0) + 0.5)),
            counts.get(number, 0),
        )
        for term, number in wanted.items()
    }


def _sparse(values: Mapping[int, float]) -> str:
    """A sparse vector as pgvector writes it; an empty one gets a weight that no chunk has."""
    return str(SparseVector(dict(values) or {0: 1e-6}, TERM_SPACE).to_text())


def _by_words(cursor: Any, idf: Mapping[str, tuple[float, int]], weighted: str, collection: str) -> list[int]:
    """Candidates that hold the rarest of the query's terms, as many terms as keep the scan small."""
    rare = sorted(((count, term) for term, (_, count) in idf.items() if count > 0), key=lambda pair: pair[0])
    chosen: list[str] = []
    rows = 0
    for count, term in rare:
        if chosen and rows + count > _LEXICAL_ROWS:
            break
        if count <= _LEXICAL_ROWS:
            chosen.append(term[:TERM_CHARACTERS])
            rows += count
    if not chosen:
        return []
    match = " | ".join("'" + term.replace("\\", "\\\\").replace("'", "''") + "'" for term in chosen)
    cursor.execute(
        "SELECT id FROM knowledge_chunk WHERE lexemes @@ %s::tsquery AND collection = %s"
        " ORDER BY weights <#> %s::sparsevec LIMIT %s",
        [match, collection, weighted, _CANDIDATES],
    )
    return [row[0] for row in cursor.fetchall()]


def _by_meaning(cursor: Any, vector: str, model: str, collection: str) -> list[int]:
    cursor.execute("SET LOCAL hnsw.ef_search = 120")
    cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
    kind = f"vector({vector.count(',') + 1})"
    cursor.execute(
        f"SELECT chunk_id FROM knowledge_vector WHERE embedding_model = %s AND collection = %s"  # noqa: S608 - a number
        f" ORDER BY embedding::{kind} <=> %s::{kind} LIMIT %s",
        [model, collection, vector, _CANDIDATES * 2],
    )
    return list(dict.fromkeys(row[0] for row in cursor.fetchall()))[:_CANDIDATES]


def _scored(cursor: Any, ids: list[int], weighted: str, vector: str, model: str) -> list[_Candidate]:
    if not ids:
        return []
    cursor.execute(
        "SELECT id, document_id, -(weights <#> %s::sparsevec),"
        " (SELECT max(1 - (embedding <=> %s::vector)) FROM knowledge_vector"
        "  WHERE chunk_id = c.id AND embedding_model = %s)"
        " FROM knowledge_chunk c WHERE id = ANY(%s)",
        [weighted, vector, model, ids],
    )
    return [_Candidate(row[0], row[1], max(0.0, row[2]), row[3] or 0.0) for row in cursor.fetchall()]


def _choose(candidates: list[_Candidate], most: float, limit: int) -> list[tuple[_Candidate, float]]:
    """Fuse the scores, best first; nothing when the query is about something else.

    `most` is the sum of the query's IDF, so that BM25 over it is the share of the query that a chunk covers.
    """
    if not candidates:
        return []
    best_words = max(candidate.bm25 for candidate in candidates) or 1.0
    best_cosine = max(candidate.cosine for candidate in candidates)
    if not _is_answered(candidates, best_cosine, best_words / (most * _FULL_MATCH) if most else 0.0):
        return []
    ranked = [
        (candidate, _WORDS_WEIGHT * candidate.bm25 / best_words + _COSINE_WEIGHT * max(0.0, candidate.cosine))
        for candidate in candidates
        if candidate.cosine >= best_cosine * _NEAR_BEST or candidate.bm25 >= best_words * _NEAR_BEST
    ]
    ranked.sort(key=lambda pair: (-pair[1], pair[0].chunk_id))
    taken: Counter[str] = Counter()
    chosen = []
    for candidate, score in ranked:
        taken[candidate.document_id] += 1
        if taken[candidate.document_id] <= _PER_DOCUMENT:
            chosen.append((candidate, score))
    return chosen[:limit]


def _is_answered(candidates: list[_Candidate], best_cosine: float, covered: float) -> bool:
    """Whether anything here is about the query.

    A cosine alone does not tell: across languages the right passage is often no closer than a wrong one in the
    same language. What tells is its lead over the field of all candidates.
    """
    floors = settings.SUPERBIZ.knowledge
    field = sorted((candidate.cosine for candidate in candidates), reverse=True)
    field = field[_FIELD_FROM:] if len(field) > _FIELD_FROM + 3 else field
    closeness = best_cosine + max(0.0, best_cosine - sum(field) / len(field))
    return bool(
        closeness >= floors.closeness_floor
        or covered >= floors.words_floor
        or closeness + covered >= floors.mixed_floor
    )


def _passages(cursor: Any, chosen: list[tuple[_Candidate, float]]) -> list[Passage]:
    cursor.execute(
        "SELECT c.id, d.document_id, d.source, d.title, c.breadcrumb, c.text FROM knowledge_chunk c"
        " JOIN knowledge_document d ON d.document_id = c.document_id WHERE c.id = ANY(%s)",
        [[candidate.chunk_id for candidate, _ in chosen]],
    )
    rows = {row[0]: row[1:] for row in cursor.fetchall()}
    found = ((rows[candidate.chunk_id], score) for candidate, score in chosen)
    return [
        Passage(document_id, source, title, breadcrumb, text, round(score, 4))
        for (document_id, source, title, breadcrumb, text), score in found
    ]
