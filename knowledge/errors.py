"""What can be wrong with a document. Messages are for its owner and hold nothing of its content."""


class DocumentError(Exception):
    """A file that cannot become a document. `message` is translated and says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class KnowledgeUnavailableError(Exception):
    """PostgreSQL or the embedding model is away."""
