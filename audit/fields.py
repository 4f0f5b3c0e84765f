"""A JSON column that gives back what it was given, key order included."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.types.json import Json


class ExactJSONField(models.JSONField):
    """PostgreSQL's `json` instead of `jsonb`.

    A released report is shown again exactly as it was sent; `jsonb` would sort its keys.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return None if value is None else Json(value)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        return value  # psycopg has parsed it: Django asks for text of `jsonb` only
