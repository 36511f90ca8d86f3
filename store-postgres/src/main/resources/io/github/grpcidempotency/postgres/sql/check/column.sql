SELECT EXISTS (
  SELECT
    FROM pg_constraint AS c
    JOIN pg_class AS t ON t.oid = c.conrelid
    JOIN pg_namespace AS n ON n.oid = t.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = ANY (c.conkey)
   WHERE n.nspname = :schema
     AND t.relname = 'idempotency_keys'
     AND c.contype = 'f'
     AND a.attname = :column
)
