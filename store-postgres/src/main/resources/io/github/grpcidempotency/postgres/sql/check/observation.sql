-- Whether the table has the columns of V4__observation.sql and V6__refusals.sql.
SELECT count(*) = 3
  FROM pg_attribute AS a
  JOIN pg_class AS c ON c.oid = a.attrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema
   AND c.relname = 'idempotency_keys'
   AND a.attname IN ('server', 'trace', 'names_resource')
   AND NOT a.attisdropped
