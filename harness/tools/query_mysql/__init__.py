"""query_mysql: proved read-only SQL on configured business databases."""
