"""`manage.py ask`: one question against a running server, shown as it streams."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from superbiz.demo.terminal import EXIT_CODES, AskError, ask


class Command(BaseCommand):
    help = "Ask one question and show the stream. Exit code: 0 report or answer, 3 fallback, 1 failed or refused."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--dir", type=Path, default=Path(".local"), help="folder of the demo (default .local)")
        parser.add_argument("--url", help="another server; needs --token")
        parser.add_argument("--token", help="API token of the asking account")
        parser.add_argument("--language", choices=("zh-hans", "en"), default="zh-hans", help="of the status messages")

    def handle(self, *args: Any, **options: Any) -> None:
        url, token = options["url"], options["token"]
        if url is None or token is None:
            try:
                demo = json.loads((options["dir"] / "demo.json").read_text())
            except FileNotFoundError:
                raise CommandError(f"No demo runs in {options['dir']}. Start one with `make demo`.") from None
            url, token = url or demo["url"], token or demo["accounts"]["demo"]["token"]
        try:
            outcome = ask(url, token, options["question"], options["language"], self._say)
        except AskError as error:
            raise CommandError(str(error)) from error
        if outcome != "SUCCESS":
            raise SystemExit(EXIT_CODES[outcome])

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
