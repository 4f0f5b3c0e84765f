"""Wires what only the whole product knows."""

from typing import Any

from django.apps import AppConfig

from harness.provider import PROVIDERS


class SuperbizConfig(AppConfig):
    name = "superbiz"

    def ready(self) -> None:
        """Offer the demo model to litellm; it is made when litellm is first needed."""
        PROVIDERS["demo"] = _demo_model


def _demo_model() -> Any:
    from superbiz.demo.model import DemoModel

    return DemoModel()
