SELECT pg_get_userbyid(p.proowner)
  FROM pg_proc AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname = '${schema}'
   AND p.proname = :grant
