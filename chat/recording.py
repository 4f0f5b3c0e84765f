"""The audit's recorder, seen from the harness: its one error becomes the harness's own."""

from audit.errors import AuditUnavailableError
from audit.recorder import RunRecorder
from harness.errors import StoreUnavailableError


class HarnessRecorder(RunRecorder):
    """Implements `harness.recorder.Recorder`. Neither harness nor audit may know the other."""

    async def checkpoint(self) -> None:
        """Raises `StoreUnavailableError` when PostgreSQL is away."""
        try:
            await super().checkpoint()
        except AuditUnavailableError as error:
            raise StoreUnavailableError("PostgreSQL is away") from error
