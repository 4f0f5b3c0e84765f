"""Celery's part: reading uploads."""

from celery import shared_task

from knowledge.ingestion import process


@shared_task(name="knowledge.read_upload")
def read_upload(document_id: str) -> None:
    """Turn a kept upload into a serving document."""
    process(document_id)
