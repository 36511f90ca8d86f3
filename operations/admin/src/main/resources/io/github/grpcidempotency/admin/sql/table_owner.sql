SELECT pg_get_userbyid(c.relowner)
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = '${schema}'
   AND c.relname = 'idempotency_keys'
