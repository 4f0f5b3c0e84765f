"""`manage.py reembed`: embed everything with the configured model while the old vectors serve."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import QuerySet
from tqdm import tqdm

from knowledge.embedding import configured_model, embed
from knowledge.index import drop_index, ensure_index
from knowledge.ingestion import lock_writes, vector_texts
from knowledge.models import MAIN_COLLECTION, Chunk, Vector

_CHUNKS = 100


class Command(BaseCommand):
    help = "Embed all chunks with the configured model; queries change over when all are done."

    def handle(self, *args: Any, **options: Any) -> None:
        model = configured_model()
        chunks = Chunk.objects.filter(collection=MAIN_COLLECTION)
        old = list(chunks.exclude(embedding_model=model).values_list("embedding_model", flat=True).distinct())
        if not old:
            self.stdout.write(f"all chunks are embedded with {model}")
            return
        waiting = chunks.exclude(vectors__embedding_model=model).select_related("document").order_by("pk")
        with tqdm(total=waiting.count(), unit="chunk", disable=options["verbosity"] == 0, leave=False) as bar:
            while not self._switch(chunks, waiting, model):
                while batch := list(waiting[:_CHUNKS]):
                    self._embed(batch, model)
                    bar.update(len(batch))
        Vector.objects.filter(collection=MAIN_COLLECTION, embedding_model__in=old).delete()
        for name in old:
            if not Vector.objects.filter(embedding_model=name).exists():
                drop_index(name)
        self.stdout.write(f"{chunks.count()} chunks are embedded with {model}")

    def _switch(self, chunks: QuerySet[Chunk], waiting: QuerySet[Chunk], model: str) -> bool:
        """Change over if every chunk has its new vectors; no document is written meanwhile."""
        with transaction.atomic():
            lock_writes()
            if waiting.exists():
                return False
            chunks.update(embedding_model=model)
        return True

    def _embed(self, batch: list[Chunk], model: str) -> None:
        texts = [vector_texts(chunk) for chunk in batch]
        vectors = iter(embed([text for several in texts for text in several], model))
        rows = [
            Vector(chunk=chunk, collection=chunk.collection, embedding_model=model, embedding=next(vectors))
            for chunk, several in zip(batch, texts, strict=True)
            for _ in several
        ]
        with transaction.atomic():
            ensure_index(model, len(rows[0].embedding))
            Vector.objects.bulk_create(rows, batch_size=500)
