"""One JSON shape for every error of the HTTP API: `{"code", "message", "errors"?}`. Source: 01-chat."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

_CODES = {
    status.HTTP_400_BAD_REQUEST: "INVALID_REQUEST",
    status.HTTP_401_UNAUTHORIZED: "NOT_AUTHENTICATED",
    status.HTTP_403_FORBIDDEN: "PERMISSION_DENIED",
    status.HTTP_404_NOT_FOUND: "NOT_FOUND",
    status.HTTP_405_METHOD_NOT_ALLOWED: "METHOD_NOT_ALLOWED",
    status.HTTP_406_NOT_ACCEPTABLE: "NOT_ACCEPTABLE",
    status.HTTP_413_REQUEST_ENTITY_TOO_LARGE: "REQUEST_TOO_LARGE",
    status.HTTP_415_UNSUPPORTED_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
    status.HTTP_429_TOO_MANY_REQUESTS: "TOO_MANY_REQUESTS",
}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's handler in our shape. What it does not know stays a 500 without details."""
    response = drf_exception_handler(error, context)
    if response is None:
        return None
    code = _CODES.get(response.status_code, "INVALID_REQUEST")
    body: dict[str, Any] = {"code": code}
    if isinstance(error, exceptions.ValidationError):
        body["message"] = _("The request is not valid.")
        body["errors"] = error.detail if isinstance(error.detail, dict) else {"non_field_errors": error.detail}
    elif isinstance(error, (Http404, PermissionDenied)):
        body["message"] = _("Not found.") if isinstance(error, Http404) else _("Permission denied.")
    elif isinstance(error, exceptions.APIException):
        body["message"] = str(error.detail)
        if isinstance(error.default_code, str) and error.default_code.isupper():
            body["code"] = error.default_code
    response.data = body
    return response
