-- The objects that the migrations create, and that a schema does not have. The only row is null if none is missing.
SELECT string_agg('the ' || o.kind || ' ' || o.name, ', ')
  FROM (VALUES ${objects}) AS o (kind, name)
 WHERE NOT EXISTS (
   SELECT
     FROM pg_namespace AS n
    WHERE n.nspname = '${schema}'
      AND CASE o.kind
            WHEN 'table'
            THEN EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = o.name)
            WHEN 'function'
            THEN EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = n.oid AND p.proname = o.name)
            ELSE EXISTS (
              SELECT
                FROM pg_policy AS p
                JOIN pg_class AS c ON c.oid = p.polrelid
               WHERE c.relnamespace = n.oid
                 AND c.relname = 'idempotency_keys'
                 AND p.polname = o.name)
          END)
