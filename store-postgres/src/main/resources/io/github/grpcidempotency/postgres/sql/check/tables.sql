SELECT ${statement_timeout};

-- Whether the tables of keys and of facts exist, and whether the role may read the facts.
SELECT keys.oid IS NOT NULL AS has_keys,
       facts.oid IS NOT NULL AS has_facts,
       COALESCE(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(facts.oid, 'SELECT'), false) AS readable
  FROM (VALUES (:schema)) AS s (name)
  LEFT JOIN pg_namespace AS n ON n.nspname = s.name
  LEFT JOIN pg_class AS keys ON keys.relnamespace = n.oid AND keys.relname = 'idempotency_keys'
  LEFT JOIN pg_class AS facts ON facts.relnamespace = n.oid AND facts.relname = 'idempotency_facts'
