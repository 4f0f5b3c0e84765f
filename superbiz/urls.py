"""URLs of the whole product; each app names its own."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from superbiz.health import healthz, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("chat.urls")),
    path("", include("audit.urls")),
    path("", include("knowledge.urls")),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("healthz", healthz),
    path("readyz", readyz),
]
