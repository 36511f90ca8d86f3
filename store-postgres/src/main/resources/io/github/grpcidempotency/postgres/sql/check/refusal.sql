SELECT EXISTS (
  SELECT
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
   WHERE n.nspname = :schema
     AND p.proname = 'refuse_claim'
     AND p.pronargs = 0
     AND has_function_privilege(p.oid, 'EXECUTE')
)
