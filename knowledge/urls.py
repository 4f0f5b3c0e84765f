"""URLs of documents and retrieval."""

from django.urls import path

from knowledge import api

urlpatterns = [
    path("api/documents", api.DocumentList.as_view(), name="documents"),
    path("api/documents/<str:document_id>", api.DocumentDetail.as_view(), name="document"),
    path("api/retrieval", api.Retrieval.as_view(), name="retrieval"),
]
