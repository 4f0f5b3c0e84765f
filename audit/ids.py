"""Keys of sessions and runs."""

import uuid

from uuid6 import uuid7


def new_id() -> uuid.UUID:
    """A UUIDv7: sorts by the time it was made."""
    return uuid.UUID(int=uuid7().int)
