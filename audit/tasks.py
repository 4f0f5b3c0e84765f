"""What Celery's beat runs for the audit."""

import logging

from celery import shared_task
from django.utils import timezone

from audit import retention, runs

logger = logging.getLogger(__name__)


@shared_task
def close_lost_runs() -> int:
    """End runs whose process is gone."""
    closed = runs.close_lost_runs(timezone.now())
    if closed:
        logger.warning("%d lost runs closed as PROCESS_LOST", closed)
    return closed


@shared_task
def purge() -> dict[str, int]:
    """Delete what is older than the configured retention."""
    return retention.purge(timezone.now())
