"""Answers to a question that is not accepted: JSON with a stable code, before any stream begins.

RefusedError            carries status, code and message to the one place that renders it
The functions below make the ones of 01-chat, "POST /api/chat"; nothing else decides codes or statuses.
"""

from collections.abc import Mapping, Sequence

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _

BUSY_RETRY_SECONDS = 5
RUNS_RETRY_SECONDS = 10


class RefusedError(Exception):
    """The request is refused. `message` is ours, in the user's language; `errors` names fields."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        errors: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.message = status, code, message
        self.errors, self.headers = errors, dict(headers or {})

    def response(self) -> HttpResponse:
        body: dict[str, object] = {"code": self.code, "message": self.message}
        if self.errors is not None:
            body["errors"] = self.errors
        return JsonResponse(body, status=self.status, headers=self.headers, json_dumps_params={"ensure_ascii": False})


def invalid_request(errors: Mapping[str, Sequence[str]] | None = None, message: str | None = None) -> RefusedError:
    return RefusedError(400, "INVALID_REQUEST", message or _("The request is not valid."), errors=errors)


def not_authenticated() -> RefusedError:
    headers = {"WWW-Authenticate": "Token"}
    return RefusedError(401, "NOT_AUTHENTICATED", _("Sign in, or send a valid token."), headers=headers)


def permission_denied() -> RefusedError:
    message = _("The CSRF check failed. Reload the page and ask again.")
    return RefusedError(403, "PERMISSION_DENIED", message)


def session_not_found() -> RefusedError:
    return RefusedError(404, "SESSION_NOT_FOUND", _("There is no such session."))


def method_not_allowed() -> RefusedError:
    return RefusedError(405, "METHOD_NOT_ALLOWED", _("Only POST is allowed."), headers={"Allow": "POST"})


def not_acceptable() -> RefusedError:
    return RefusedError(406, "NOT_ACCEPTABLE", _("The answer is text/event-stream, which the request does not accept."))


def session_busy() -> RefusedError:
    return RefusedError(409, "SESSION_BUSY", _("This session is still answering a question."))


def request_too_large(limit: int) -> RefusedError:
    message = _("The request is larger than %(limit)d bytes.") % {"limit": limit}
    return RefusedError(413, "REQUEST_TOO_LARGE", message)


def unsupported_media_type() -> RefusedError:
    return RefusedError(415, "UNSUPPORTED_MEDIA_TYPE", _("The request must be application/json in UTF-8."))


def too_many_runs() -> RefusedError:
    message = _("You have too many questions running. Wait for one to end.")
    return RefusedError(429, "TOO_MANY_RUNS", message, headers={"Retry-After": str(RUNS_RETRY_SECONDS)})


def busy() -> RefusedError:
    message = _("The service is busy. Ask again in a moment.")
    return RefusedError(503, "BUSY", message, headers={"Retry-After": str(BUSY_RETRY_SECONDS)})


def store_unavailable() -> RefusedError:
    """PostgreSQL or Redis is away: a run that nobody can record or count does not start."""
    message = _("The service cannot keep records now. Ask again in a moment.")
    return RefusedError(503, "BUSY", message, headers={"Retry-After": str(BUSY_RETRY_SECONDS)})
