"""The audit's endpoints; its admin pages hang on the admin."""

from django.urls import URLPattern, path

from audit.api import ReasoningView, RunExport, RunList, TraceView
from audit.events import FeedView
from audit.metrics import metrics

# Ids are plain text here, so that a malformed one gets the API's own 404.
urlpatterns: list[URLPattern] = [
    path("api/diagnosis/runs", RunList.as_view(), name="run-list"),
    path("api/diagnosis/runs/export", RunExport.as_view(), name="run-export"),
    path("api/diagnosis/events", FeedView.as_view(), name="run-events"),
    path("api/diagnosis/<str:session_id>/trace", TraceView.as_view(), name="run-trace"),
    path("api/diagnosis/<str:session_id>/trace/reasoning", ReasoningView.as_view(), name="run-reasoning"),
    path("metrics", metrics, name="metrics"),
]
