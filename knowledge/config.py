"""Settings of documents and retrieval."""

from pydantic import BaseModel, ConfigDict, Field


class KnowledgeSettings(BaseModel):
    """Documents and retrieval."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    embedding_model: str | None = Field(
        None, description="litellm's name of an embedding model; none: the packaged offline encoder."
    )
