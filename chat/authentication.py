"""Who asks: a token, or a Django session whose requests carry the CSRF token.

The two halves are apart because the first reads the database and the second must come after the checks of the
headers: CSRF looks into the body of forms, which are refused before.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import CSRFCheck, TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from chat import refusals


@dataclass(frozen=True, slots=True)
class Asker:
    user: User
    by_session: bool
    """Whether the browser sent the proof by itself, so that CSRF must be ruled out."""


def identify(request: HttpRequest) -> Asker:
    """The user behind a token or a session; reads the database. Raises `RefusedError` (401)."""
    try:
        found = TokenAuthentication().authenticate(Request(request))
    except AuthenticationFailed:
        raise refusals.not_authenticated() from None
    if found is not None:
        return Asker(found[0], by_session=False)
    user = request.user
    if isinstance(user, User) and user.is_active:
        return Asker(user, by_session=True)
    raise refusals.not_authenticated()


def check_csrf(request: HttpRequest, asker: Asker) -> None:
    """Raises `RefusedError` (403) for a session's request without its CSRF token."""
    if not asker.by_session:
        return
    check = CSRFCheck(_unused)
    check.process_request(request)
    if check.process_view(request, _unused, (), {}) is not None:
        raise refusals.permission_denied()


def _unused(request: HttpRequest) -> HttpResponse:
    """What a middleware wraps; checking a request does not call it."""
    return HttpResponse()
