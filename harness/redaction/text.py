"""The finders, joined."""

from collections.abc import Callable, Iterator

from harness.redaction.assignments import find_assignments
from harness.redaction.commands import find_command_passwords, find_statement_passwords
from harness.redaction.formats import find_issued_keys, find_tokens_and_private_keys
from harness.redaction.headers import find_http_credentials
from harness.redaction.identity import find_personal_numbers
from harness.redaction.prose import find_named_in_prose
from harness.redaction.spans import Span, write_masks
from harness.redaction.urls import find_url_passwords

_FINDERS: tuple[Callable[[str], Iterator[Span]], ...] = (
    find_tokens_and_private_keys,
    find_issued_keys,
    find_url_passwords,
    find_http_credentials,
    find_assignments,
    find_statement_passwords,
    find_command_passwords,
    find_named_in_prose,
    find_personal_numbers,
)


def redact_text(text: str) -> str:
    """`text` with each secret replaced by `[REDACTED:kind]`. Raises nothing; the text may be of any length."""
    spans = [span for find in _FINDERS for span in find(text)]
    return write_masks(text, spans) if spans else text
