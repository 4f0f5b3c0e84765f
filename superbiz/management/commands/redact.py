"""`manage.py redact`: a filter that masks secrets."""

import codecs
import os
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from django.core.management.base import BaseCommand

from harness.redaction.stream import redact_stream

_CHUNK_BYTES = 1 << 16


class Command(BaseCommand):
    help = (
        "Copy standard input to standard output with passwords, tokens, keys and personal numbers masked as "
        "[REDACTED:kind]. Lines are passed on as they come; bytes that are not UTF-8 pass unchanged."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's own annotation

    def handle(self, *args: Any, **options: Any) -> None:
        output = sys.stdout.buffer
        try:
            for text in redact_stream(_decoded(cast(BinaryIO, sys.stdin.buffer))):
                output.write(text.encode("utf-8", "surrogateescape"))
                output.flush()
        except BrokenPipeError:
            # The reader (such as `head`) has enough; Python would fail once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _decoded(source: BinaryIO) -> Iterator[str]:
    """What can be read now, at most 64 KiB at a time, so that `tail -f | manage.py redact` does not wait."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    read = getattr(source, "read1", source.read)
    while chunk := read(_CHUNK_BYTES):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)
