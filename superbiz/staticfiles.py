"""Static files by WhiteNoise, without leaving the event loop."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # untyped
    """Serves collected static files; every other request goes on as it came.

    WhiteNoise's own middleware is synchronous. Django would run all that lies behind it in a thread, where it is
    not noticed that a client has left: its run would go on.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        answer: HttpResponseBase | Awaitable[HttpResponseBase]
        static_file = self.files.get(request.path_info)
        if static_file is None:
            answer = self.get_response(request)
        elif iscoroutinefunction(self):
            answer = _ready(self.serve(static_file, request))
        else:
            answer = self.serve(static_file, request)
        return answer


async def _ready(response: HttpResponseBase) -> HttpResponseBase:
    return response
