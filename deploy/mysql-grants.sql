-- The account of one data source: read only, column by column, equal to its allowlist in superbiz.toml.
-- `manage.py check --deploy` warns when an account may do more. Run as an administrator; choose a password.
--
-- The columns here are those of the example:
--   [mysql_tools.data_sources.order_readonly.allowed_schemas.order_db.tables]
--   biz_order = { columns = ["order_id", "user_id", "payment_status", "created_at", "updated_at"] }
--   payment_record = { columns = ["payment_id", "order_id", "channel", "status", "created_at", "updated_at"] }

CREATE USER IF NOT EXISTS 'superbiz_ro'@'%' IDENTIFIED BY 'choose-a-password'
  WITH MAX_USER_CONNECTIONS 20;   -- pool_size of each process, and as many again for KILL QUERY

-- MariaDB: a ceiling that no session can lift. (MySQL has none for an account; the tool sets max_execution_time.)
-- ALTER USER 'superbiz_ro'@'%' WITH MAX_STATEMENT_TIME 15;

GRANT SELECT (order_id, user_id, payment_status, created_at, updated_at)
  ON order_db.biz_order TO 'superbiz_ro'@'%';
GRANT SELECT (payment_id, order_id, channel, status, created_at, updated_at)
  ON order_db.payment_record TO 'superbiz_ro'@'%';

-- KILL QUERY needs no further right: an account may always end its own statements.
SHOW GRANTS FOR 'superbiz_ro'@'%';
