"""The typed settings tree: defaults, bounds and units in one place, checked before anything starts.

Values come from the TOML file that `SUPERBIZ_CONFIG` names and from the environment, which wins:
`SUPERBIZ_HARNESS__BUDGET__MODEL_CALLS=8` sets `harness.budget.model_calls`. Source: 07-run, "Settings".
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from audit.config import RetentionSettings, TelemetrySettings
from harness.config import HarnessSettings, ModelSettings, Section
from harness.tools.query_logs.config import LogToolsSettings
from harness.tools.query_mysql.config import MysqlToolsSettings
from knowledge.config import KnowledgeSettings

PREFIX = "SUPERBIZ_"
SHORT_NAMES = {
    "SUPERBIZ_MODEL": ("model", "name"),
    "SUPERBIZ_MODEL_API_BASE": ("model", "api_base"),
    "SUPERBIZ_MODEL_API_KEY": ("model", "api_key"),
    "SUPERBIZ_EMBEDDING_MODEL": ("knowledge", "embedding_model"),
    "SUPERBIZ_REASONING_KEYS": ("reasoning", "keys"),
}
FILE_VARIABLE = "SUPERBIZ_CONFIG"


class ReasoningSettings(Section):
    """Encryption of what providers return as reasoning."""

    keys: Annotated[str, Field(repr=False)] = Field(
        "", description="Fernet keys, newest first, separated by commas; none: reasoning is not stored (secret)."
    )


class Settings(Section):
    """The whole tree."""

    harness: HarnessSettings = HarnessSettings()
    model: ModelSettings = ModelSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    log_tools: LogToolsSettings = LogToolsSettings()
    mysql_tools: MysqlToolsSettings = MysqlToolsSettings()
    reasoning: ReasoningSettings = ReasoningSettings()
    retention: RetentionSettings = RetentionSettings()
    telemetry: TelemetrySettings = TelemetrySettings()


class SettingsError(Exception):
    """A setting is unknown or out of bounds. The message names it, its bounds and where it was set."""


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read file and environment. Raise `SettingsError` on anything that is not known and within bounds."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins: dict[tuple[str, ...], str] = {}
    path = environ.get(FILE_VARIABLE)
    if path:
        values = _read_file(Path(path))
        origins = dict.fromkeys(_leaves(values), path)
    for variable, names, value in _from_environment(environ):
        _put(values, names, value, variable)
        origins[names] = f"the environment variable {variable}"
    try:
        return Settings.model_validate(values, context={"environ": environ})
    except ValidationError as error:
        raise SettingsError(_explain(error, origins)) from None


def describe(section: type[BaseModel] | None = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting of the tree: its dotted name and its pydantic field."""
    for name, field in (section or Settings).model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            yield from describe(nested, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{FILE_VARIABLE} names {path}, which cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from None


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    for variable in sorted(environ):
        if variable in SHORT_NAMES:
            if environ[variable]:
                yield variable, SHORT_NAMES[variable], environ[variable]
        elif variable.startswith(PREFIX) and variable != FILE_VARIABLE:
            names = tuple(variable[len(PREFIX) :].lower().split("__"))
            yield variable, names, _value(environ[variable])


def _value(text: str) -> Any:
    """Numbers, true/false, lists and tables as JSON; everything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _put(values: dict[str, Any], names: tuple[str, ...], value: Any, origin: str) -> None:
    place = values
    for name in names[:-1]:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise SettingsError(f"{origin} sets {'.'.join(names)}, but {name} is a single value, not a section")
    place[names[-1]] = value


def _leaves(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in values.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from _leaves(value, (*above, name))


def _explain(error: ValidationError, origins: Mapping[tuple[str, ...], str]) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        names = tuple(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            said = "unknown setting; `manage.py settings` lists the known ones"
        else:
            said = problem["msg"].removeprefix("Value error, ")
        origin = next((origins[names[:n]] for n in range(len(names), 0, -1) if names[:n] in origins), None)
        if origin is None:  # a sum over several settings
            origin = ", ".join(sorted({o for at, o in origins.items() if at[: len(names)] == names})) or "the defaults"
        lines.append(f"{'.'.join(names) or 'settings'}: {said} (set in {origin})")
    return "\n".join(lines)
