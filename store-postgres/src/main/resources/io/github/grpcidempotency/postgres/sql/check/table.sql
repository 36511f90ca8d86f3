SELECT EXISTS (
  SELECT
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE n.nspname = :schema
     AND c.relname = 'idempotency_keys'
)
