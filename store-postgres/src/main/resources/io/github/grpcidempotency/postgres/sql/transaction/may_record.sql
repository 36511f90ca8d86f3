-- Returns whether the application's role may write records.
SELECT has_table_privilege(c.oid, 'INSERT') AS may_record
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = '${schema}'
   AND c.relname = 'idempotency_keys'
