-- Whether the transaction has used a table that is not the library's.
EXISTS (
  SELECT
    FROM pg_locks AS l
    JOIN pg_database AS d ON d.oid = l.database
    JOIN pg_class AS c ON c.oid = l.relation
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE l.pid = pg_backend_pid()
     AND l.locktype = 'relation'
     AND d.datname = current_database()
     AND n.nspname NOT IN ('pg_catalog', 'pg_toast', '${schema}'))
