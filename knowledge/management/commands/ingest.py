"""`manage.py ingest PATH…`: read files or folders into the knowledge base, here and now."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from knowledge.errors import DocumentError
from knowledge.ingestion import ingest

SUFFIXES = frozenset({".md", ".markdown", ".html", ".htm", ".txt", ".pdf", ".docx"})


class Command(BaseCommand):
    help = "Ingest documents. Folders are read with all below. Exit code 1 when a file could not be read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")

    def handle(self, *args: Any, **options: Any) -> None:
        files = list(_files(options["paths"]))
        failed = 0
        quiet = options["verbosity"] == 0
        for path in tqdm(files, unit="file", disable=quiet, leave=False):
            try:
                document = ingest(path.name, path.read_bytes())
            except (DocumentError, OSError) as error:
                failed += 1
                said = error.message if isinstance(error, DocumentError) else error.strerror
                self.stderr.write(f"{path}: {said}")
                continue
            if not quiet:
                tqdm.write(f"{document.document_id} (version {document.version}) from {path}", file=self.stdout)
        if not quiet:
            self.stdout.write(f"{len(files) - failed} of {len(files)} files ingested")
        if failed:
            raise SystemExit(1)


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        elif path.exists():
            yield path
        else:
            raise CommandError(f"{path} does not exist")
