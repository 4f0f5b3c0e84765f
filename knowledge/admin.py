"""Documents in the admin: their state, uploads of several files, deletion. Chunks are for nobody to edit."""

from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from knowledge.errors import DocumentError
from knowledge.ingestion import remove, submit
from knowledge.models import MAIN_COLLECTION, Document
from knowledge.tasks import read_upload

if TYPE_CHECKING:
    DocumentModelAdmin = admin.ModelAdmin[Document]
else:
    DocumentModelAdmin = admin.ModelAdmin  # not subscriptable when it runs


class _ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class _ManyFiles(forms.FileField):
    """Several files in one field; each is validated on its own."""

    widget = _ManyFilesInput(attrs={"accept": ".md,.markdown,.html,.htm,.txt,.pdf,.docx"})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list) else [data]
        return [super(_ManyFiles, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    documents = _ManyFiles(label=gettext_lazy("Files"), allow_empty_file=True)


@admin.register(Document)
class DocumentAdmin(DocumentModelAdmin):
    """Adding is uploading; a document itself is read-only."""

    list_display = ("document_id", "title", "status", "error", "language", "version", "updated_at")
    list_filter = ("status", "language")
    search_fields = ("document_id", "title")
    readonly_fields = (
        "document_id",
        "source",
        "title",
        "status",
        "error",
        "language",
        "version",
        "created_at",
        "updated_at",
    )
    fields = readonly_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return super().get_queryset(request).filter(collection=MAIN_COLLECTION).defer("text", "upload")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Upload several files; a worker reads them, and the list shows how each went."""
        if not self.has_add_permission(request):
            return self.changelist_view(request)
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            self._take(request, form.cleaned_data["documents"])
            return HttpResponseRedirect(reverse("admin:knowledge_document_changelist"))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Upload documents"),
            "opts": self.opts,
            "form": form,
        }
        return TemplateResponse(request, "admin/knowledge/document/upload.html", context)

    def _take(self, request: HttpRequest, files: list[Any]) -> None:
        for file in files:
            try:
                document = submit(file.name, file.read())
            except DocumentError as error:
                messages.error(request, f"{file.name}: {error.message}")
                continue
            transaction.on_commit(partial(read_upload.delay, document.pk))
            messages.success(request, _("%(name)s is being read.") % {"name": file.name})

    def has_change_permission(self, request: HttpRequest, obj: Document | None = None) -> bool:
        """Nobody edits a document here; those who may view it see it."""
        return False

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        remove(obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        for slug in queryset.values_list("pk", flat=True):
            remove(slug)
