"""Sessions and the readings of reasoning in the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from audit.admin.readonly import ReadOnlyAdmin
from audit.models import ChatSession, ReasoningAccess
from audit.models.reasoning import VIEW_REASONING


@admin.register(ChatSession)
class ChatSessionAdmin(ReadOnlyAdmin):
    keyset = ("last_active_at", "session_id")
    list_display = ("last_active_at", "user", "title", "last_intent", "hidden_at", "runs")
    list_select_related = ("user",)
    fields = ("session_id", "user", "title", "last_intent", "last_user_query", "created_at", "last_active_at",
              "hidden_at", "runs")  # fmt: skip

    @admin.display(description=_("runs"))
    def runs(self, session: ChatSession) -> str:
        address = reverse("admin:audit_diagnosisrun_changelist")
        return format_html('<a href="{}?q={}">{}</a>', address, session.pk, _("show"))


@admin.register(ReasoningAccess)
class ReasoningAccessAdmin(ReadOnlyAdmin):
    """Who read reasoning, or tried to."""

    keyset = ("at", "id")
    list_display = ("at", "user", "granted", "http_status", "run_id", "session_id", "remote_address", "via")
    list_select_related = ("user",)
    list_filter = ("granted", "via")
    search_fields = ("run_id",)
    search_help_text = _("A run's id")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return (queryset & ReasoningAccess.objects.of_run(search_term) if search_term else queryset), False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("audit.view_reasoningaccess") or request.user.has_perm(VIEW_REASONING)
