"""Documents and retrieval over HTTP. Source: 06-knowledge, "APIs"."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, generics, parsers, serializers, status
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import DjangoModelPermissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge.errors import DocumentError
from knowledge.ingestion import remove, submit
from knowledge.models import MAIN_COLLECTION, Document
from knowledge.retrieval import MAX_QUERY_CHARACTERS, search
from knowledge.tasks import read_upload


class DocumentSerializer(serializers.ModelSerializer[Document]):
    class Meta:
        model = Document
        fields = (
            "document_id",
            "source",
            "title",
            "status",
            "error",
            "language",
            "version",
            "content_hash",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


class UploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(allow_empty_file=True)


class PassageSerializer(serializers.Serializer[Any]):
    document_id = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of ours, not the serializer's
    title = serializers.CharField()
    breadcrumb = serializers.CharField()
    excerpt = serializers.CharField()
    score = serializers.FloatField()


class RetrievalSerializer(serializers.Serializer[Any]):
    query = serializers.CharField(max_length=MAX_QUERY_CHARACTERS)
    limit = serializers.IntegerField(min_value=1, max_value=50, default=6)


class FoundSerializer(serializers.Serializer[Any]):
    query = serializers.CharField()
    results = PassageSerializer(many=True)


class _Pages(CursorPagination):
    ordering = "document_id"
    page_size = 50


class DocumentList(generics.ListAPIView[Document]):
    """All documents with their state; new ones are uploaded here."""

    queryset = Document.objects.filter(collection=MAIN_COLLECTION).defer("text", "upload")
    serializer_class = DocumentSerializer
    permission_classes = (DjangoModelPermissions,)
    parser_classes = (parsers.MultiPartParser,)
    pagination_class = _Pages

    @extend_schema(request={"multipart/form-data": UploadSerializer}, responses={202: DocumentSerializer})
    def post(self, request: Request) -> Response:
        """Upload one file. A worker reads it; the answer says its state now."""
        upload = UploadSerializer(data=request.data)
        upload.is_valid(raise_exception=True)
        file = upload.validated_data["file"]
        limit = settings.SUPERBIZ.knowledge.max_document_bytes
        if file.size > limit:
            raise exceptions.ValidationError(
                {"file": [_("The file is larger than %(size)d MB.") % {"size": limit >> 20}]}
            )
        try:
            document = submit(file.name, file.read())
        except DocumentError as error:
            raise exceptions.ValidationError({"file": [error.message]}) from error
        transaction.on_commit(lambda: read_upload.delay(document.pk))
        return Response(DocumentSerializer(document).data, status=status.HTTP_202_ACCEPTED)


class DocumentDetail(generics.RetrieveDestroyAPIView[Document]):
    """One document."""

    queryset = Document.objects.filter(collection=MAIN_COLLECTION).defer("text", "upload")
    serializer_class = DocumentSerializer
    permission_classes = (DjangoModelPermissions,)
    lookup_field = "document_id"

    def perform_destroy(self, instance: Document) -> None:
        remove(instance.pk)


class Retrieval(APIView):
    """What a look-up finds, with scores, for people who tune."""

    @extend_schema(
        parameters=[OpenApiParameter("query", str, required=True), OpenApiParameter("limit", int)],
        responses=FoundSerializer,
    )
    def get(self, request: Request) -> Response:
        asked = RetrievalSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        query = asked.validated_data["query"]
        found = search(query, asked.validated_data["limit"])
        return Response({"query": query, "results": PassageSerializer(found, many=True).data})
