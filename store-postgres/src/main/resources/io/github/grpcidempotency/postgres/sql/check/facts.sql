-- Whether the role may read the facts about the schema; no row if the table does not exist.
SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = :schema
   AND c.relname = 'idempotency_facts'
