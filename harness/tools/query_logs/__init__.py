"""query_logs: log search over configured topics."""
