"""URLs of the whole product; each app names its own."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("audit.urls")),
    path("admin/", admin.site.urls),
]
