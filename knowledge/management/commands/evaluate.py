"""`manage.py evaluate retrieval`: recall on documents and questions that nobody tuned for."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from knowledge.chunking import Block
from knowledge.ingestion import remove, store
from knowledge.models import Document, Term
from knowledge.parsing import Parsed
from knowledge.retrieval import search

_DEPTH = 10


class Command(BaseCommand):
    help = "Load documents into a scratch collection, ask the questions, print recall, MRR and p95 as one JSON line."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("subject", choices=("retrieval",))
        parser.add_argument("--documents", type=Path, required=True, help="JSONL, one paragraph a line")
        parser.add_argument("--questions", type=Path, required=True, help="JSONL of the same paragraph ids")

    def handle(self, *args: Any, **options: Any) -> None:
        documents, questions = _read(options["documents"]), _read(options["questions"])
        collection = f"evaluate-{uuid4().hex[:12]}"
        try:
            self._load(documents, collection)
            result = self._ask(questions, collection)
        finally:
            for slug in Document.objects.filter(collection=collection).values_list("pk", flat=True):
                remove(slug)
            Term.objects.filter(collection=collection).delete()
        self.stdout.write(json.dumps({"documents": len(documents), **result}))

    def _load(self, documents: list[dict[str, Any]], collection: str) -> None:
        for entry in tqdm(documents, desc="documents", unit="document", leave=False):
            text = entry["context"]
            parsed = Parsed(entry["title"], text, [Block(0, len(text), "")])
            store(f"{collection}-{entry['paragraph_id']}"[:100], "paragraph.txt", parsed, "", collection)

    def _ask(self, paragraphs: list[dict[str, Any]], collection: str) -> dict[str, Any]:
        ranks: list[int | None] = []
        seconds: list[float] = []
        asked = [(entry["paragraph_id"], qa["question"]) for entry in paragraphs for qa in entry["qas"]]
        for paragraph_id, question in tqdm(asked, desc="questions", unit="question", leave=False):
            began = time.perf_counter()
            found = search(question, _DEPTH, collection)
            seconds.append(time.perf_counter() - began)
            ids = list(dict.fromkeys(passage.document_id for passage in found))
            wanted = f"{collection}-{paragraph_id}"[:100]
            ranks.append(ids.index(wanted) + 1 if wanted in ids else None)
        if not ranks:
            raise CommandError("the questions file holds no question")
        return {
            "questions": len(ranks),
            "recall_at_1": _share(ranks, 1),
            "recall_at_5": _share(ranks, 5),
            "mrr": round(sum(1 / rank for rank in ranks if rank) / len(ranks), 4),
            "p95_ms": round(sorted(seconds)[int(len(seconds) * 0.95)] * 1000, 1),
        }


def _share(ranks: list[int | None], depth: int) -> float:
    return round(sum(rank is not None and rank <= depth for rank in ranks) / len(ranks), 4)


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        return list(_lines(path))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError) as error:
        raise CommandError(f"{path}: not the expected JSONL") from error


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            entry = json.loads(line)
            yield {name: entry[name] for name in ("paragraph_id", "title", "context", "qas")}
