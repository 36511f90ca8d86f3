-- Whether the handler has used the host's transaction. If the transaction has written nothing, or if the claim has
-- deleted a row in it, its locks on other tables show this.
CASE
  WHEN CAST(:cleared AS uuid) IS NULL AND pg_current_xact_id_if_assigned() IS NOT NULL
  THEN true
  ELSE EXISTS (
    SELECT
      FROM pg_locks AS l
      JOIN pg_database AS d ON d.oid = l.database
      JOIN pg_class AS c ON c.oid = l.relation
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE l.pid = pg_backend_pid()
       AND l.locktype = 'relation'
       AND d.datname = current_database()
       AND n.nspname NOT IN ('pg_catalog', 'pg_toast', '${schema}'))
END
