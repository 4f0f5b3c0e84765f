"""What an executor needs beside its run's context."""

from dataclasses import dataclass

from harness.boundary import ToolBoundary
from harness.config import HarnessSettings
from harness.model import ModelBoundary


@dataclass(frozen=True, slots=True)
class Services:
    """Process-wide parts, shared by all runs."""

    model: ModelBoundary
    tools: ToolBoundary
    settings: HarnessSettings
