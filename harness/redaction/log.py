"""Redaction of application logs, for the logging configuration."""

import logging

from harness.redaction.text import redact_text


class RedactingFormatter(logging.Formatter):
    """Formats like its base and masks secrets in the whole of it: message, arguments, exception and stack."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_text(super().format(record))
