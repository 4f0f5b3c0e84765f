"""Feedback in the admin: read-only, beside the run it is about."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.http import HttpRequest

from chat.models import Feedback

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Feedback]  # generic in the stubs only
else:
    _Admin = admin.ModelAdmin


@admin.register(Feedback)
class FeedbackAdmin(_Admin):
    """Opinions belong to the people who gave them: nobody adds, changes or deletes one here."""

    list_display = ("updated_at", "run", "rating", "comment")
    list_filter = ("rating",)
    list_select_related = ("run",)
    search_fields = ("=run__run_id",)
    ordering = ("-updated_at",)
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Feedback | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Feedback | None = None) -> bool:
        return False
