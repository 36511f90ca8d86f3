-- Whether the role may execute the functions of V6__refusals.sql.
SELECT count(*) = 2
  FROM pg_proc AS p
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname = :schema
   AND p.proname IN ('refuse_claim', 'refuse_commit')
   AND has_function_privilege(p.oid, 'EXECUTE')
