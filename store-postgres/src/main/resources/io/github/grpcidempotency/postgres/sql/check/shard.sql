-- The name that the schema's comment gives to the shard; no row if it gives none.
SELECT mark[1]
  FROM pg_namespace AS n
 CROSS JOIN LATERAL regexp_match(obj_description(n.oid, 'pg_namespace'), '^shard\s+(.*\S)') AS mark
 WHERE n.nspname = :schema
   AND mark IS NOT NULL
