"""Settings of query_logs."""

from harness.config import Section


class LogToolsSettings(Section):
    """Log topics and their sources."""
