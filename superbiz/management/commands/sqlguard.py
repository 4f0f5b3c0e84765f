"""`manage.py sqlguard`: what the guard says of statements. Needs no database, Redis or network."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from pydantic import ValidationError

from harness.tools.query_mysql.config import PolicySettings
from harness.tools.query_mysql.guard import prove
from harness.tools.query_mysql.policy import Policy
from harness.tools.query_mysql.refusal import StatementRefusedError


class Command(BaseCommand):
    help = (
        "Reads statements as JSON lines {id, sql, params, data_source?} on stdin and prints the guard's verdict on "
        "each. Exit code 0 whatever the verdicts, 1 when the policy or a line cannot be read."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's own annotation

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--policy",
            required=True,
            metavar="FILE",
            help="TOML or JSON in the shape of mysql_tools, without connection",
        )
        parser.add_argument("--jsonl", action="store_true", help="print JSON lines instead of text")

    def handle(self, *args: Any, **options: Any) -> None:
        policies = _policies(Path(options["policy"]))
        for number, text in enumerate(sys.stdin, start=1):
            if not text.strip():
                continue
            verdict = _verdict(_read(text, number), policies)
            self.stdout.write(json.dumps(verdict) if options["jsonl"] else _text(verdict))


def _read(text: str, number: int) -> dict[str, Any]:
    """One line. Fields beside the known ones are ignored, so that files of cases can be fed as they are."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        raise CommandError(f"line {number} is not valid JSON") from None
    if not isinstance(line, dict) or not isinstance(line.get("sql"), str):
        raise CommandError(f"line {number} is not an object with a string `sql`")
    if not isinstance(line.setdefault("params", []), list):
        raise CommandError(f"line {number}: `params` is not a list")
    return line


def _policies(path: Path) -> dict[str, Policy]:
    try:
        content = path.read_text(encoding="utf-8")
        values = json.loads(content) if path.suffix == ".json" else tomllib.loads(content)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(f"{path} is neither valid TOML nor, named .json, valid JSON: {error}") from None
    values = values.get("mysql_tools", values)
    known = {key: value for key, value in values.items() if key in PolicySettings.model_fields}
    for source in known.get("data_sources", {}).values():
        source.pop("url", None)  # the configuration of a running product will do as well
    try:
        settings = PolicySettings.model_validate(known)
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors(include_url=False, include_input=False)
        ]
        raise CommandError(f"{path}: " + "\n".join(lines)) from None
    if not settings.data_sources:
        raise CommandError(f"{path} names no data source (data_sources)")
    return {name: Policy.build(source, settings) for name, source in settings.data_sources.items()}


def _verdict(line: dict[str, Any], policies: dict[str, Policy]) -> dict[str, Any]:
    known = ", ".join(policies)
    name = line.get("data_source", known if len(policies) == 1 else None)
    policy = policies.get(name) if isinstance(name, str) else None
    if policy is None:
        return _rejected(line, "DATA_SOURCE", f"Name one of the data sources of the policy: {known}.")
    try:
        proved = prove(line["sql"], line["params"], policy)
    except StatementRefusedError as refused:
        return _rejected(line, refused.code.value, refused.message)
    return {
        "id": line.get("id"),
        "verdict": "accept",
        "code": None,
        "message": None,
        "executed_sql": proved.executed_sql,
        "params": list(proved.params),
    }


def _rejected(line: dict[str, Any], code: str, message: str) -> dict[str, Any]:
    nothing = {"executed_sql": None, "params": None}
    return {"id": line.get("id"), "verdict": "reject", "code": code, "message": message, **nothing}


def _text(verdict: dict[str, Any]) -> str:
    said = verdict["executed_sql"] if verdict["verdict"] == "accept" else f"{verdict['code']}: {verdict['message']}"
    return f"{verdict['id']}\t{verdict['verdict']}\t{said}"
