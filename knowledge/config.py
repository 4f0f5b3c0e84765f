"""Settings of documents and retrieval."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class KnowledgeSettings(BaseModel):
    """Documents and retrieval."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    embedding_model: str | None = Field(
        None, description="litellm's name of an embedding model; none: the packaged offline encoder."
    )
    max_document_bytes: Annotated[int, Field(gt=0, le=200 << 20)] = Field(
        20 << 20, description="Size of one document (bytes)."
    )
    chunk_characters: Annotated[int, Field(ge=100, le=1200)] = Field(
        500, description="About how long a chunk gets; never across a heading (characters)."
    )
    closeness_floor: Annotated[float, Field(ge=0, le=2)] = Field(
        0.43,
        description="A query is answered when its best cosine plus its lead over the others reaches this (0 to 2).",
    )
    words_floor: Share = Field(
        0.45, description="A query is answered when a passage holds this share of its information (0 to 1)."
    )
    mixed_floor: Annotated[float, Field(ge=0, le=3)] = Field(
        0.55, description="A query is answered when closeness and share of words together reach this (0 to 3)."
    )
