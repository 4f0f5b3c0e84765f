"""The chat's page and endpoints. Names stand alone, as Django's own `login` and `set_language` do."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, path

from chat import api, pages
from chat.views import ChatView

urlpatterns: list[URLPattern | URLResolver] = [
    path("", pages.index, name="index"),
    path("sessions/<uuid:session_id>/", pages.index, name="session"),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("api/chat", ChatView.as_view(), name="chat"),
    path("api/sessions", api.SessionList.as_view(), name="session-list"),
    path("api/sessions/<uuid:session_id>", api.SessionDetail.as_view(), name="session-detail"),
    path("api/sessions/<uuid:session_id>/runs", api.SessionRuns.as_view(), name="session-runs"),
    path("api/runs/<uuid:run_id>/cancel", api.CancelRun.as_view(), name="run-cancel"),
    path("api/feedback", api.FeedbackView.as_view(), name="feedback"),
]
