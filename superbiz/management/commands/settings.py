"""`manage.py settings`: the settings in force, or their documentation."""

import json
from typing import Any

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from superbiz.conf import PREFIX, SHORT_NAMES, describe

_MASK = "********"
_BOUNDS = {Ge: "≥ {ge}", Gt: "> {gt}", Le: "≤ {le}", Lt: "< {lt}", MinLen: "≥ {min_length} characters"}


class Command(BaseCommand):
    requires_system_checks = ()  # checks import the URLs, and with them what only serving needs
    help = "Print the settings in force, secrets masked; --markdown prints their documentation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--markdown", action="store_true", help="documentation of every setting")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["markdown"]:
            self.stdout.write(documentation(), ending="")
            return
        values = {name: _value(settings.SUPERBIZ, name, field) for name, field in describe()}
        if options["json"]:
            self.stdout.write(json.dumps(values, ensure_ascii=False, indent=2))
            return
        for name, value in values.items():
            self.stdout.write(f"{name} = {json.dumps(value, ensure_ascii=False)}")


def documentation() -> str:
    """docs/settings.md, from the models."""
    shorts = {".".join(names): variable for variable, names in SHORT_NAMES.items()}
    lines = [
        "# Settings",
        "",
        "Written by `make docs` from the models; do not edit. Values come from the TOML file that `SUPERBIZ_CONFIG`",
        "names and from the environment, which wins. An unknown name or a value out of bounds stops the start.",
        "",
        "| setting | environment | default | bounds | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, field in describe():
        variable = shorts.get(name, PREFIX + name.upper().replace(".", "__"))
        default = "none" if _is_secret(field) else _plain(field.get_default(call_default_factory=True))
        lines.append(f"| `{name}` | `{variable}` | {default} | {_bounds(field)} | {field.description} |")
    return "\n".join(lines) + "\n"


def _value(tree: BaseModel, name: str, field: FieldInfo) -> Any:
    value: Any = tree
    for part in name.split("."):
        value = getattr(value, part)
    if _is_secret(field):
        return _MASK if value else None
    return _jsonable(value)


def _jsonable(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {name: _value(value, name, field) for name, field in type(value).model_fields.items()}
    if isinstance(value, dict):
        return {str(key): _jsonable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_jsonable(entry) for entry in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def _is_secret(field: FieldInfo) -> bool:
    return field.repr is False


def _plain(value: Any) -> str:
    return f"`{json.dumps(_jsonable(value), ensure_ascii=False)}`"


def _bounds(field: FieldInfo) -> str:
    found = []
    for metadata in field.metadata:
        for kind, text in _BOUNDS.items():
            if isinstance(metadata, kind):
                found.append(text.format(**vars(metadata) if hasattr(metadata, "__dict__") else _fields(metadata)))
        if isinstance(metadata, MaxLen):
            found.append(f"≤ {metadata.max_length} characters")
    return ", ".join(found) or "–"


def _fields(metadata: Any) -> dict[str, Any]:
    return {name: getattr(metadata, name) for name in metadata.__dataclass_fields__}
