"""Settings of query_mysql."""

from harness.config import Section


class MysqlToolsSettings(Section):
    """Business databases that the agent may read."""
