SELECT ${statement_timeout};

SELECT EXISTS (
  SELECT
    FROM pg_index AS i
    JOIN pg_class AS t ON t.oid = i.indrelid
    JOIN pg_namespace AS n ON n.oid = t.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
   WHERE n.nspname = :schema
     AND t.relname = 'idempotency_keys'
     AND a.attname = 'user_uuid'
     AND i.indisvalid
)
