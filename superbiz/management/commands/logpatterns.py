"""`manage.py logpatterns`: the patterns in log lines. Needs no service."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from harness.tools.query_logs.miner import Pattern, PatternMiner

_SHOWN_CHARACTERS = 200


class Command(BaseCommand):
    help = (
        "Reads raw log lines on stdin and prints their patterns, most frequent first: id, count, level, template and "
        "an example. The outcome does not depend on the order of the lines. Exit code 0, also without any line."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's own annotation

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--jsonl", action="store_true", help="print {pattern_id, count, level, template, example} a line"
        )
        parser.add_argument("--top", type=int, metavar="N", help="print the N most frequent patterns only")
        parser.add_argument(
            "--assign", action="store_true", help="print the pattern id of each line, in the order of the lines"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        top = options["top"]
        if top is not None and top < 1:
            raise CommandError("--top takes a number of at least 1")
        if options["assign"] and (options["jsonl"] or top is not None):
            raise CommandError("--assign prints one id for each line; it goes with neither --jsonl nor --top")
        miner = PatternMiner()
        for line in sys.stdin.buffer:
            miner.add(line.rstrip(b"\r\n"))
        if options["assign"]:
            sys.stdout.writelines(f"{name}\n" for name in miner.assigned())
            return
        patterns = miner.patterns()[:top]
        self._print(_json(patterns) if options["jsonl"] else _table(patterns))

    def _print(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)


def _json(patterns: Iterable[Pattern]) -> Iterable[str]:
    for each in patterns:
        yield json.dumps(
            {
                "pattern_id": each.pattern_id,
                "count": each.count,
                "level": each.level,
                "template": each.template,
                "example": each.example,
            },
            ensure_ascii=False,
        )


def _table(patterns: Iterable[Pattern]) -> Iterable[str]:
    for each in patterns:
        yield f"{each.count:>9}  {each.level or '-':<6}  {each.pattern_id}  {each.template[:_SHOWN_CHARACTERS]}"
