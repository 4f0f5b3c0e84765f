"""`manage.py purge`: retention by hand."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from audit.retention import count_due, purge


class Command(BaseCommand):
    help = (
        "Deletes audit rows that are older than the configured retention and prints, as one line of JSON, "
        "how many rows of each table. Exit code 0."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count what would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        dry_run: bool = options["dry_run"]
        rows = count_due(now) if dry_run else purge(now)
        self.stdout.write(json.dumps({"dry_run": dry_run, "rows": rows}))
