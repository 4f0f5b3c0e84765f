"""The Celery app: ingestion, the reaper of lost runs, retention."""

import os

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "superbiz.settings")

app = Celery("superbiz")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "close-lost-runs": {"task": "audit.tasks.close_lost_runs", "schedule": 60.0},
    "purge": {"task": "audit.tasks.purge", "schedule": crontab(hour="3", minute="17")},
}
