"""What all audit pages of the admin share: nothing can be changed, and lists page by key, not by count."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import models
from django.db.models import Q
from django.http import HttpRequest

AFTER = "after"  # the key of the row that the page before ended with

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class KeysetChangeList(ChangeList):
    """A page is what follows a row: as fast on the last page as on the first, and no `count(*)`."""

    model_admin: "ReadOnlyAdmin"
    older: str | None = None
    """Query string of the next page, if there is one."""

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return {name: value for name, value in super().get_filters_params(params).items() if name != AFTER}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        new = {AFTER: None} | dict(new_params or {})  # another filter starts again with the newest
        return super().get_query_string(new, remove)

    def get_results(self, request: HttpRequest) -> None:
        time, key = self.model_admin.keyset
        rows = self.queryset.order_by(f"-{time}", f"-{key}")
        after = _parse(request.GET.get(AFTER, ""))
        if after is not None:
            at, last = after
            rows = rows.filter(**{f"{time}__lte": at}).filter(Q(**{f"{time}__lt": at}) | Q(**{f"{key}__lt": last}))
        found = list(rows[: self.list_per_page + 1])
        self.result_list = found[: self.list_per_page]
        if len(found) > self.list_per_page:
            end = self.result_list[-1]
            self.older = self.get_query_string({AFTER: f"{getattr(end, time).isoformat()}_{getattr(end, key)}"})
        self.newest = self.get_query_string() if after is not None else None
        self.result_count = self.full_result_count = len(self.result_list)
        self.show_full_result_count = self.show_admin_actions = self.can_show_all = self.multi_page = False


class ReadOnlyAdmin(_ModelAdmin):
    """Shows, and never changes. Subclasses name `keyset`: the column of time and the key that order the list."""

    keyset: tuple[str, str]
    actions = None
    sortable_by = ()  # another order would need an index of its own
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they count
    change_list_template = "admin/audit/change_list.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return KeysetChangeList

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


def _parse(text: str) -> tuple[datetime, str] | None:
    at, _, key = text.partition("_")
    try:
        return (datetime.fromisoformat(at), key) if key else None
    except ValueError:
        return None
