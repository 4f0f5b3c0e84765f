"""Wires what only the whole product knows."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig

from harness.provider import PROVIDERS


class SuperbizConfig(AppConfig):
    name = "superbiz"

    def ready(self) -> None:
        """Offer the demo model to litellm (it is made when litellm is first needed) and register our checks."""
        PROVIDERS["demo"] = _demo_model
        import_module("superbiz.checks")  # registers the checks of `manage.py check --deploy`


def _demo_model() -> Any:
    from superbiz.demo.model import DemoModel

    return DemoModel()
