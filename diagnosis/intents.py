"""What a question can be about."""

from enum import StrEnum


class Intent(StrEnum):
    """The router's three words. Source: 04-diagnosis, "Intent router"."""

    SYSTEM_CHAT = "SYSTEM_CHAT"
    KNOWLEDGE_QUERY = "KNOWLEDGE_QUERY"
    DIAGNOSIS = "DIAGNOSIS"
