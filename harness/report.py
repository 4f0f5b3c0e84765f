"""The draft that the agent writes, as a strict schema. Source: 04-diagnosis, "Draft"."""

import re
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from harness.errors import HarnessError
from harness.reply import json_text
from harness.strict_json import StrictJsonError
from harness.tools.base import StrictModel

MAX_TEXT = 2000
MAX_ITEMS = 20
_MAX_ERRORS = 100  # what a repair prompt can use; a hostile reply may have any number of unknown fields
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")
_HINTS = {
    "missing": "This field is required.",
    "extra_forbidden": "This field does not exist in the report. Remove it.",
    "string_too_long": f"This text is too long: at most {MAX_TEXT} characters, ids at most 128.",
    "string_too_short": "This text is empty. Write it, or leave the entry out.",
    "too_long": f"This list is too long: at most {MAX_ITEMS} entries.",
    "literal_error": 'Write "NORMAL" or "NEGATIVE_OBSERVATION".',
    "bool_type": "Write true or false, without quotes.",
    "string_type": "Write a string.",
    "string_unicode": "This text holds broken Unicode. Write plain text.",
    "list_type": "Write a list.",
    "model_type": "Write an object with the fields of the report.",
    "value_error": "This text is blank or holds a NUL character. Write plain text.",
}


class GuardError(NamedTuple):
    """One fault of a draft. `path` is a JSON path; `message` tells the model how to mend it."""

    path: str
    code: str
    message: str


class DraftInvalidError(HarnessError):
    """The text is no draft. `errors` names every fault with code SCHEMA_INVALID."""

    def __init__(self, errors: list[GuardError]) -> None:
        super().__init__(f"{len(errors)} schema errors")
        self.errors = errors


def _visible(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError("blank or NUL")
    return text


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT), AfterValidator(_visible)]
AnalysisId = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_visible)]
AnalysisRefs = Annotated[list[AnalysisId], Field(max_length=MAX_ITEMS)]


class Conclusion(StrictModel):
    """What the named analyses support together."""

    text: Text
    based_on_analysis_ids: AnalysisRefs


class Analysis(StrictModel):
    """One observation that its cited tool calls show, or that they found nothing."""

    analysis_id: AnalysisId
    kind: Literal["NORMAL", "NEGATIVE_OBSERVATION"]
    text: Text
    tool_call_ids: Annotated[list[AnalysisId], Field(max_length=MAX_ITEMS)]


class Action(StrictModel):
    """A next step for people; what could do harm asks for confirmation."""

    action: Text
    based_on_analysis_ids: AnalysisRefs
    requires_human_confirmation: bool


class Recommendation(StrictModel):
    """A long-term improvement."""

    text: Text
    based_on_analysis_ids: AnalysisRefs


class Limitations(StrictModel):
    """What was looked at, and what is missing to be certain."""

    scope: Text
    missing_info: Annotated[list[Text], Field(max_length=MAX_ITEMS)]


class DiagnosisDraft(StrictModel):
    """The agent's whole report before release. A null conclusion is honest where evidence is thin."""

    conclusion: Conclusion | None
    analysis: Annotated[list[Analysis], Field(max_length=MAX_ITEMS)]
    action_plan: Annotated[list[Action], Field(max_length=MAX_ITEMS)]
    recommendations: Annotated[list[Recommendation], Field(max_length=MAX_ITEMS)]
    limitations: Limitations


def parse_draft(text: str) -> DiagnosisDraft:
    """Read the agent's last message: one JSON object, alone or in one code fence.

    Raises `DraftInvalidError` with all faults at once.
    """
    try:
        return DiagnosisDraft.model_validate(json_text(text))
    except StrictJsonError as error:
        message = f"The reply cannot be read: {error}. Send the report as one JSON object and nothing else."
        raise DraftInvalidError([GuardError("$", "SCHEMA_INVALID", message)]) from None
    except ValidationError as error:
        raise DraftInvalidError(_schema_errors(error)) from None


def _schema_errors(error: ValidationError) -> list[GuardError]:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        GuardError(_json_path(fault["loc"]), "SCHEMA_INVALID", _HINTS.get(fault["type"], "This value is not allowed."))
        for fault in faults[:_MAX_ERRORS]
    ]


def _json_path(location: tuple[int | str, ...]) -> str:
    """`$.analysis[0].text`. A field that we do not know is named only if its name is plain."""
    path = "$"
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{step}" if _PLAIN_NAME.fullmatch(step) else ".*"
    return path
