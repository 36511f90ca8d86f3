-- The columns of resource types: those with a foreign key, and those whose type was added as not enforced.
SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type
  FROM pg_attribute AS a
  JOIN pg_class AS t ON t.oid = a.attrelid
  JOIN pg_namespace AS n ON n.oid = t.relnamespace
 WHERE n.nspname = :schema
   AND t.relname = 'idempotency_keys'
   AND NOT a.attisdropped
   AND (EXISTS (SELECT FROM ${schema}.idempotency_facts AS f WHERE f.name = a.attname AND f.value = 'not enforced')
        OR EXISTS (
          SELECT
            FROM pg_constraint AS c
           WHERE c.conrelid = t.oid
             AND c.contype = 'f'
             AND a.attnum = ANY (c.conkey)))
