"""`POST /api/chat`: validates, opens the run and streams. Source: 01-chat."""

import asyncio

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.parsers import JSONParser
from rest_framework.views import APIView

from audit.database import on_database_thread
from chat import refusals
from chat.authentication import check_csrf, identify
from chat.question import Question, check_headers, read_question
from chat.refusals import RefusedError
from chat.runtime import get_runtime
from chat.serializers import ErrorBody
from chat.stream import CONTENT_TYPE, HEADERS, read

_STREAM = OpenApiResponse(
    OpenApiTypes.STR,
    description="Events: metadata, status (0 to many), content or failure, done. Each holds one line of JSON.",
)
_REFUSALS = dict.fromkeys((400, 401, 403, 404, 405, 406, 409, 413, 415, 429, 503), ErrorBody)


class ChatView(APIView):
    """The only way to start a run. Everything is refused before the first byte of a stream.

    A view of DRF's for its place in the schema; DRF dispatches in threads, and a stream lives on the event loop.
    """

    async def dispatch(self, request: HttpRequest) -> HttpResponseBase:  # type: ignore[override]
        try:
            if request.method != "POST":
                raise refusals.method_not_allowed()
            return await self.post(request)
        except RefusedError as refusal:
            return refusal.response()

    parser_classes = (JSONParser,)

    @extend_schema(request=Question, responses={(200, "text/event-stream"): _STREAM, **_REFUSALS})
    async def post(self, request: HttpRequest) -> StreamingHttpResponse:
        """Ask a question. The answer is a stream of server-sent events."""
        try:
            asker = await on_database_thread(identify, request)
        except (DatabaseError, InterfaceError) as error:
            raise refusals.store_unavailable() from error
        check_headers(request)
        check_csrf(request, asker)
        question = read_question(request)
        language = request.LANGUAGE_CODE
        run = await get_runtime().use_case.open(asker.user, question, language)
        # The request's own task ends when the client leaves, wherever it is then: in a middleware that is still to
        # come, or in the stream. A middleware without async support would break this: the view would get a task of
        # its own, which ends when the view returns.
        request_task = asyncio.current_task()
        assert request_task is not None
        request_task.add_done_callback(lambda _: run.reader_gone())
        return StreamingHttpResponse(read(run.stream), content_type=CONTENT_TYPE, headers=HEADERS)
