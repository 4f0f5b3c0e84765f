"""Wires the parts: settings, ASGI, URLs, Celery, commands, the demo."""

from superbiz.celery import app as celery_app

__all__ = ["celery_app"]
