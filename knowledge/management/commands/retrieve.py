"""`manage.py retrieve QUERY…`: what a look-up finds."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from knowledge.retrieval import search


class Command(BaseCommand):
    help = "Search the knowledge base. Exit code 1 when nothing is relevant."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("query", nargs="+", help="words of the query")
        parser.add_argument("--limit", type=int, default=6, help="at most so many passages (default 6)")
        parser.add_argument("--json", action="store_true", help="print what GET /api/retrieval answers")

    def handle(self, *args: Any, **options: Any) -> None:
        query = " ".join(options["query"])
        found = search(query, options["limit"])
        if options["json"]:
            results = [asdict(passage) for passage in found]
            self.stdout.write(json.dumps({"query": query, "results": results}, ensure_ascii=False))
        else:
            for passage in found:
                self.stdout.write(f"{passage.score:.3f}  {passage.document_id}  {passage.breadcrumb}")
                self.stdout.write(f"       {passage.excerpt[:200]}")
        if not found:
            raise SystemExit(1)
