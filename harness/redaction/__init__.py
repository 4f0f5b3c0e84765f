"""Redaction: secrets leave a text, everything else stays. Source: 03-tools, "Redaction".

`redact_text` marks spans on the untouched text (one finder a subject: key formats, URLs, headers, assignments,
commands and SQL, prose, personal numbers) and then writes `[REDACTED:kind]` over them. Every finder is a single
pass with bounded look-around, so that time grows linearly with the text; redacting twice changes nothing more.
"""

from harness.redaction.structure import redact_value
from harness.redaction.text import redact_text

__all__ = ["redact_text", "redact_value"]
