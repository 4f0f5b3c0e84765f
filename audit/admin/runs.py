"""Runs in the admin: the list, the run page, comparing two, reasoning, and the dashboard."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.access import log_reasoning_access
from audit.admin.filters import FallbackTypeFilter, UserFilter
from audit.admin.readonly import ReadOnlyAdmin
from audit.dashboard import CHART_HEIGHT, CHART_WIDTH, DAYS, dashboard
from audit.models import AgentReasoningAudit, DiagnosisRun, ReasoningAccess
from audit.models.reasoning import VIEW_REASONING
from audit.runpage import differences, run_page
from audit.vault import VaultError, get_vault

NOTHING = "–"


@admin.register(DiagnosisRun)
class DiagnosisRunAdmin(ReadOnlyAdmin):
    keyset = ("started_at", "run_id")
    list_display = ("time", "user", "question", "intent_name", "outcome", "duration", "tokens", "cost", "tool_calls")
    list_display_links = ("time",)
    list_select_related = ("session__user",)
    list_filter = ("status", "intent", FallbackTypeFilter, "started_at", UserFilter)
    search_fields = ("run_id",)  # shows the box; `get_search_results` does the work
    search_help_text = gettext_lazy("A run's or session's id, or words of the question")
    change_list_template = "admin/audit/diagnosisrun/change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # Reports are large and the list shows none of them.
        return super().get_queryset(request).defer("released_content", "published_result")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return (queryset & DiagnosisRun.objects.matching(search_term) if search_term else queryset), False

    def get_urls(self) -> list[URLPattern]:
        def page(name: str, address: str, view: Callable[..., HttpResponse]) -> URLPattern:
            return path(address, self.admin_site.admin_view(view), name=f"audit_diagnosisrun_{name}")

        return [
            page("dashboard", "dashboard/", self.dashboard_view),
            page("reasoning", "<uuid:run_id>/reasoning/", self.reasoning_view),
            page("compare", "<uuid:run_id>/compare/", self.compare_view),
            *super().get_urls(),
        ]

    @admin.display(description=gettext_lazy("time"))
    def time(self, run: DiagnosisRun) -> str:
        at = timezone.localtime(run.started_at)
        return format_html("<span>{}</span> <span>{}</span>", at.strftime("%Y-%m-%d"), at.strftime("%H:%M:%S"))

    @admin.display(description=gettext_lazy("user"))
    def user(self, run: DiagnosisRun) -> str:
        name = run.session.user.get_username()
        return format_html('<a href="?{}">{}</a>', urlencode({"user": name}), name)

    @admin.display(description=gettext_lazy("question"))
    def question(self, run: DiagnosisRun) -> str:
        return Truncator(run.user_query).chars(48)

    @admin.display(description=gettext_lazy("intent"))
    def intent_name(self, run: DiagnosisRun) -> str:
        return run.get_intent_display() or NOTHING

    @admin.display(description=gettext_lazy("outcome"))
    def outcome(self, run: DiagnosisRun) -> str:
        """The script of the page finds it by the run's id and changes it when the feed says so."""
        return format_html(
            '<span class="run-state" data-run="{}" data-state="{}" title="{}">{}</span>',
            run.pk, run.status, run.failure_code or run.fallback_type or "", run.get_status_display(),
        )  # fmt: skip

    @admin.display(description=gettext_lazy("duration"))
    def duration(self, run: DiagnosisRun) -> str:
        return NOTHING if run.duration_ms is None else f"{run.duration_ms / 1000:.1f} s"

    @admin.display(description=gettext_lazy("tokens"))
    def tokens(self, run: DiagnosisRun) -> str:
        return f"{run.total_tokens:,}"

    @admin.display(description=gettext_lazy("cost (USD)"))
    def cost(self, run: DiagnosisRun) -> str:
        return f"{run.cost_usd:.4f}"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The run page. Django's own form page would show fields; this one shows what happened."""
        run = self._run(request, object_id)
        page = run_page(run)
        context = {
            "page": page,
            "may_read_reasoning": request.user.has_perm(VIEW_REASONING),
            "feedback_url": _feedback_url(page.feedback),
        }
        return self._render(request, "run.html", _("Run"), context, run=run)

    def compare_view(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """Two runs side by side; `with` names the other by its id."""
        left, right = self._run(request, str(run_id)), self._run(request, request.GET.get("with", "").strip())
        pages = [run_page(left), run_page(right)]
        context = {"left": pages[0], "right": pages[1], "pages": pages, "differences": differences(left, right)}
        return self._render(request, "compare.html", _("Compare runs"), context, run=left)

    def dashboard_view(self, request: HttpRequest) -> HttpResponse:
        """Figures of the last 7, 30 or 90 days."""
        self._check(request)
        asked = request.GET.get("days", "")
        days = int(asked) if asked in map(str, DAYS) else 30
        context = {
            "dashboard": dashboard(timezone.now(), days),
            "days": days,
            "choices": DAYS,
            "chart_width": CHART_WIDTH,
            "chart_height": CHART_HEIGHT,
        }
        return self._render(request, "dashboard.html", _("Dashboard"), context)

    def reasoning_view(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """What the provider returned as reasoning, behind its own permission; each look is logged, refused ones too."""
        run = DiagnosisRun.objects.filter(pk=run_id).select_related("session__user").first()
        allowed = request.user.has_perm(VIEW_REASONING)
        status = 403 if not allowed else 404 if run is None else 200
        assert isinstance(request.user, User)  # `admin_view` lets nobody else in
        log_reasoning_access(
            request, request.user, ReasoningAccess.Via.ADMIN,
            http_status=status, session_id=None if run is None else run.session_id, run_id=run_id,
        )  # fmt: skip
        if not allowed:
            raise PermissionDenied
        if run is None:
            raise Http404
        items = list(AgentReasoningAudit.objects.filter(run=run).select_related("step").order_by("step__step_index"))
        return self._render(
            request, "reasoning.html", _("Reasoning"), {"items": [(item, _content(item)) for item in items]}, run=run
        )

    def _check(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _run(self, request: HttpRequest, run_id: str) -> DiagnosisRun:
        self._check(request)
        try:
            key = UUID(run_id)
        except ValueError:
            raise Http404 from None
        run = DiagnosisRun.objects.select_related("session__user").filter(pk=key).first()
        if run is None:
            raise Http404
        return run

    def _render(
        self,
        request: HttpRequest,
        template: str,
        title: str,
        context: dict[str, Any],
        run: DiagnosisRun | None = None,
    ) -> HttpResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "run": run}
        return TemplateResponse(request, f"admin/audit/diagnosisrun/{template}", shared | context)


def _feedback_url(feedback: Any) -> str | None:
    if feedback is None:
        return None
    try:
        return reverse("admin:chat_feedback_change", args=[feedback.pk])
    except NoReverseMatch:
        return None


def _content(item: AgentReasoningAudit) -> str | None:
    if item.reasoning_content is None:
        return None
    try:
        return get_vault().open(item.reasoning_content)
    except VaultError:
        return None
