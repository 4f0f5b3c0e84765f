"""`manage.py demo`: everything on this machine, with sample data, until Ctrl-C."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from superbiz.demo.processes import Demo, DemoError, stop
from superbiz.demo.services import ServiceError


class Command(BaseCommand):
    help = "Start private services, sample data, web server, worker and beat; stay until Ctrl-C."
    requires_system_checks = ()  # the services that checks ask for start here

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port of the web server (default 8000)")
        parser.add_argument("--dir", type=Path, default=Path(".local"), help="folder of all data (default .local)")
        parser.add_argument("--stop", action="store_true", help="stop the demo that runs in the folder")

    def handle(self, *args: Any, **options: Any) -> None:
        directory: Path = options["dir"]
        if options["stop"]:
            self.stdout.write("stopped" if stop(directory) else f"no demo runs in {directory}")
            return
        try:
            Demo(directory, options["port"], self._say).run()
        except (DemoError, ServiceError) as error:
            raise CommandError(str(error)) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
