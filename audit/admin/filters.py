"""Filters of the runs list whose choices cost no query."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from audit.models import DiagnosisRun

FALLBACK_TYPES = ("EVIDENCE_VALIDATION_FAILED", "SEMANTIC_UNSUPPORTED", "SEMANTIC_UNAVAILABLE")


class FallbackTypeFilter(admin.SimpleListFilter):
    title = _("fallback type")
    parameter_name = "fallback_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(name, name) for name in FALLBACK_TYPES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[DiagnosisRun]) -> QuerySet[DiagnosisRun]:
        return queryset.filter(fallback_type=self.value()) if self.value() else queryset


class UserFilter(admin.SimpleListFilter):
    """Set by the name of a user in a row; a list of all users would be long."""

    title = _("user")
    parameter_name = "user"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        chosen = request.GET.get(self.parameter_name)
        return [(chosen, chosen)] if chosen else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[DiagnosisRun]) -> QuerySet[DiagnosisRun]:
        return queryset.filter(session__user__username=self.value()) if self.value() else queryset
