"""Prompts are files of their own; they are read once."""

from functools import cache
from pathlib import Path


@cache
def load_prompt(folder: Path, name: str) -> str:
    """The text of `name`.md in `folder`, without surrounding white space."""
    return (folder / f"{name}.md").read_text(encoding="utf-8").strip()
