SELECT ${lock_timeout}, ${statement_timeout};

-- The columns of resource types: those with a foreign key, and those whose type was added as not enforced.
SELECT a.attname AS name,
       CASE a.atttypid -- a type's text depends on the setting quote_all_identifiers
         WHEN 'uuid'::regtype THEN 'uuid'
         WHEN 'bigint'::regtype THEN 'bigint'
         WHEN 'integer'::regtype THEN 'integer'
         WHEN 'text'::regtype THEN 'text'
         ELSE format_type(a.atttypid, NULL)
       END AS type
  FROM pg_attribute AS a
  JOIN pg_class AS t ON t.oid = a.attrelid
  JOIN pg_namespace AS n ON n.oid = t.relnamespace
 WHERE n.nspname = :schema
   AND t.relname = 'idempotency_keys'
   AND NOT a.attisdropped
   AND (EXISTS (SELECT FROM "${schema}".idempotency_facts AS f WHERE f.name = a.attname AND f.value = 'not enforced')
        OR EXISTS (
          SELECT
            FROM pg_constraint AS c
           WHERE c.conrelid = t.oid
             AND c.contype = 'f'
             AND a.attnum = ANY (c.conkey)))
