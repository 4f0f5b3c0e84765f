"""The body of `POST /api/chat`: read within its bound, parsed strictly. Source: 01-chat."""

import unicodedata
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from django.http.request import MediaType
from django.utils.translation import gettext as _
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chat import refusals
from harness.strict_json import StrictJsonError, loads_object

MAX_BODY_BYTES = 64 * 1024
MAX_QUERY_CHARACTERS = 4_000

# Letters and symbols by their category that nevertheless show as nothing.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def _canonical_uuid(value: object) -> object:
    """Only the 36-character form: `UUID()` also takes braces, URNs and bare digits."""
    if isinstance(value, str):
        try:
            parsed = UUID(value)
        except ValueError:
            parsed = None
        if parsed is None or str(parsed) != value.lower():
            raise ValueError("not a UUID")
        return parsed
    return value


class Question(BaseModel):
    """`query` is trimmed; `session_id` None starts a session."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, str_strip_whitespace=True)

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="The question, after trimming.")
    session_id: Annotated[UUID | None, BeforeValidator(_canonical_uuid, json_schema_input_type=UUID | None)] = Field(
        default=None, description="The session to go on with; null starts one."
    )


def check_headers(request: HttpRequest) -> None:
    """Refuse with 406, 415 or 413 by headers alone, before the body is read. Raises `RefusedError`."""
    if not _accepts_event_stream(request):
        raise refusals.not_acceptable()
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    encoded = request.headers.get("Content-Encoding", "identity").strip().lower() != "identity"
    if request.content_type != "application/json" or charset not in {"utf-8", "utf8"} or encoded:
        raise refusals.unsupported_media_type()
    length = request.headers.get("Content-Length", "")
    if length.isascii() and length.isdigit() and int(length) > MAX_BODY_BYTES:
        raise refusals.request_too_large(MAX_BODY_BYTES)


def read_question(request: HttpRequest) -> Question:
    """Read at most one byte more than is allowed and parse. Raises `RefusedError` (400, 413)."""
    body = request.read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        raise refusals.request_too_large(MAX_BODY_BYTES)
    return parse_question(body)


def parse_question(body: bytes) -> Question:
    """Strict UTF-8 JSON with known fields. Raises `RefusedError` with code INVALID_REQUEST."""
    try:
        values = loads_object(body.decode("utf-8"))
    except (UnicodeDecodeError, StrictJsonError):
        raise refusals.invalid_request(message=_("The body must be one JSON object in UTF-8.")) from None
    try:
        question = Question.model_validate(values)
    except ValidationError as error:
        raise refusals.invalid_request(_explain(error)) from None
    if "\0" in question.query:
        raise refusals.invalid_request({"query": [_("NUL characters are not allowed.")]})
    if not any(is_visible(character) for character in question.query):
        raise refusals.invalid_request({"query": [_("At least one visible character is needed.")]})
    return question


def is_visible(character: str) -> bool:
    """Whether a character shows as something of its own: marks alone, spaces, controls and fillers do not."""
    return unicodedata.category(character)[0] in "LNPS" and character not in _BLANK


def _accepts_event_stream(request: HttpRequest) -> bool:
    """The most specific range that covers `text/event-stream` decides; `q=0` excludes it."""
    best: tuple[int, float] | None = None
    for token in request.headers.get("Accept", "*/*").split(","):
        accepted = MediaType(token)
        main, sub = accepted.main_type.lower(), accepted.sub_type.lower()
        if (main, sub) in {("*", "*"), ("text", "*"), ("text", "event-stream")}:
            found = (accepted.specificity, accepted.quality)
            best = max(best, found) if best is not None else found
    return best is not None and best[1] > 0


def _explain(error: ValidationError) -> dict[str, list[str]]:
    """Our words for pydantic's findings, by field; nothing of the input comes back but a field's name."""
    errors: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        name = str(problem["loc"][0]) if problem["loc"] else "non_field_errors"
        errors.setdefault(name[:100], []).append(_word(problem["type"]))
    return errors


def _word(kind: str) -> str:
    match kind:
        case "missing":
            return _("This field is required.")
        case "extra_forbidden":
            return _("This field is not known.")
        case "string_too_short" | "string_too_long":
            return _("It must be 1 to %(limit)d characters.") % {"limit": MAX_QUERY_CHARACTERS}
        case "string_type":
            return _("It must be a string.")
        case _:
            return _("It is not valid.")
