-- The shard's name from the schema's comment; no row if the comment names no shard.
SELECT mark[1]
  FROM pg_namespace AS n
 CROSS JOIN LATERAL regexp_match(obj_description(n.oid, 'pg_namespace'), '^shard\s+(.*\S)') AS mark
 WHERE n.nspname = :schema
   AND mark IS NOT NULL
