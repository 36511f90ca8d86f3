-- One row per problem of the table; no row if there is no problem.
WITH keys AS (
  SELECT c.oid, c.relowner, c.relrowsecurity, c.relforcerowsecurity
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE n.nspname = :schema
     AND c.relname = 'idempotency_keys'
), partitions AS (
  SELECT c.oid, c.relname, c.relowner, c.relrowsecurity, c.relforcerowsecurity
    FROM pg_class AS c
    JOIN pg_inherits AS i ON i.inhrelid = c.oid
   WHERE i.inhparent IN (SELECT oid FROM keys)
), functions AS (
  SELECT p.oid, p.proname, p.proowner, p.prosecdef
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
   WHERE n.nspname = :schema
     AND p.proname IN (
       'current_user_id', 'current_user_ids', 'renew_leases', 'in_flight', 'sweep_expired', 'answer_beginnings', 'answers_after', 'refer_if_it_stands', 'refuse_claim',
       'refuse_commit')
), needed AS (
  SELECT *
    FROM (VALUES
           ('idempotency_keys', 'SELECT'), ('idempotency_keys', 'INSERT'), ('idempotency_keys', 'UPDATE'),
           ('idempotency_keys', 'DELETE'), ('idempotency_waits', 'SELECT'), ('idempotency_waits', 'INSERT'),
           ('idempotency_waits', 'DELETE'), ('idempotency_facts', 'SELECT')) AS n (name, privilege)
), me AS (
  SELECT r.rolname, r.rolsuper, r.rolbypassrls FROM pg_roles AS r WHERE r.rolname = current_user
), missing AS (
  SELECT CASE WHEN count(*) > 5 THEN 'rights on ' || quote_ident(:schema) || '.idempotency_keys and what belongs to it' ELSE string_agg(what, ', ') END
           AS lacking
    FROM (SELECT 'USAGE on the schema ' || :schema AS what WHERE NOT has_schema_privilege(:schema, 'USAGE')
          UNION ALL
          SELECT needed.privilege || ' on ' || quote_ident(:schema) || '.' || needed.name
            FROM needed
            LEFT JOIN (pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = :schema)
              ON c.relname = needed.name
           WHERE NOT COALESCE(has_table_privilege(c.oid, needed.privilege), false)
          UNION ALL
          SELECT 'EXECUTE on ' || quote_ident(:schema) || '.' || proname FROM functions WHERE NOT has_function_privilege(oid, 'EXECUTE')) AS lacked
), excess AS (
  -- The effective rights: the role's own, those of PUBLIC, and those of the roles that it is a member of.
  SELECT string_agg(what, ', ' ORDER BY what) AS forbidden
    FROM (SELECT 'CREATE on the schema ' || :schema AS what WHERE has_schema_privilege(:schema, 'CREATE')
          UNION ALL
          SELECT string_agg(d.privilege_type, ', ' ORDER BY d.privilege_type) || ' on ' || c.relname
            FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = :schema
           CROSS JOIN LATERAL aclexplode(acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r'::"char" END, c.relowner)) AS d
           WHERE c.relkind IN ('r', 'p', 'S')
             AND c.relname ~ '^(idempotency_|flyway_schema_history$)'
             AND (c.relname::text, d.privilege_type) NOT IN (SELECT name, privilege FROM needed)
             AND CASE
                   WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, d.privilege_type)
                   WHEN d.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') THEN has_any_column_privilege(c.oid, d.privilege_type)
                   ELSE has_table_privilege(c.oid, d.privilege_type)
                 END
           GROUP BY c.relname
          UNION ALL
          SELECT 'EXECUTE on ' || p.proname
            FROM pg_proc AS p
            JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname = :schema
           WHERE p.prosecdef
             AND p.proname <> 'statistics'
             AND p.oid NOT IN (SELECT oid FROM functions)
             AND has_function_privilege(p.oid, 'EXECUTE')) AS held
), surroundings AS (
  SELECT NOT has_table_privilege(keys.oid, 'INSERT')
         AND EXISTS (
           SELECT
             FROM pg_proc AS p
             JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE n.nspname = :schema
              AND p.proname IN ('operator_find', 'operator_contents')
              AND has_function_privilege(p.oid, 'EXECUTE')) AS is_operator,
         (SELECT min(r.rolname)
            FROM pg_roles AS r
           WHERE r.rolcanlogin
             AND NOT r.rolsuper
             AND NOT pg_has_role(r.oid, keys.relowner, 'MEMBER')
             AND has_table_privilege(r.oid, keys.oid, 'INSERT')) AS application
    FROM keys
)
SELECT 'row-level security of ' || quote_ident(:schema) || '.idempotency_keys is not enabled and forced; call ALTER TABLE '
       || quote_ident(:schema) || '.idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'
  FROM keys
 WHERE NOT (relrowsecurity AND relforcerowsecurity)
UNION ALL
SELECT 'the role ' || rolname || ' is a superuser, so row-level security does not apply to it;'
       || ' connect as a role that is not'
  FROM me
 WHERE rolsuper
UNION ALL
SELECT 'the role ' || rolname || ' has BYPASSRLS, so row-level security does not apply to it;'
       || ' remove it with ALTER ROLE ' || quote_ident(rolname) || ' NOBYPASSRLS'
  FROM me
 WHERE rolbypassrls AND NOT rolsuper
UNION ALL
SELECT 'the role ' || rolname || ' owns ' || quote_ident(:schema) || '.idempotency_keys, or is a member of its owner;'
       || ' connect as another role'
  FROM me, keys
 WHERE pg_has_role(current_user, relowner, 'MEMBER') AND NOT rolsuper
UNION ALL
SELECT CASE
         WHEN is_operator
         THEN 'the role ' || rolname || ' is an operator''s, which needs no right on the tables; run this check as the application''s role'
              || COALESCE(', such as ' || application, '')
         ELSE 'the role ' || rolname || ' lacks ' || lacking || '; if it is the application''s role, call SELECT '
              || quote_ident(:schema) || '.grant_to(' || quote_literal(rolname) || ') as ' || pg_get_userbyid(relowner)
       END
  FROM me, keys, missing, surroundings
 WHERE lacking IS NOT NULL
UNION ALL
SELECT 'the role ' || rolname || ' has rights in the schema ' || :schema || ' that only its owner and operators need: ' || forbidden
       || '; revoke them from the role, from PUBLIC, and from the roles that it is a member of'
  FROM me, keys, missing, excess
 WHERE forbidden IS NOT NULL
   AND lacking IS NULL
   AND NOT rolsuper
   AND NOT pg_has_role(current_user, relowner, 'MEMBER')
UNION ALL
-- The functions for renewal and sweep run as their owner. The policy must show every user's rows to that owner.
SELECT quote_ident(:schema) || '.' || proname || ' belongs to ' || pg_get_userbyid(proowner)
       || ', but the table idempotency_keys to ' || pg_get_userbyid(relowner)
       || '; give both the same owner'
  FROM functions, keys
 WHERE prosecdef AND proowner <> relowner
UNION ALL
-- Without SECURITY DEFINER, they would find no rows of other users, and report no error.
SELECT quote_ident(:schema) || '.' || proname || ' is not a SECURITY DEFINER function, so it cannot change other users'' rows;'
       || ' call ALTER FUNCTION ' || quote_ident(:schema) || '.' || proname || ' SECURITY DEFINER'
  FROM functions
 WHERE proname IN ('renew_leases', 'in_flight', 'sweep_expired')
   AND NOT prosecdef
UNION ALL
SELECT 'the policy maintenance of ' || quote_ident(:schema) || '.idempotency_keys is not granted to the table''s owner '
       || pg_get_userbyid(relowner) || ' alone, so leases are not renewed and expired rows are not swept,'
       || ' or other roles see all rows; call ALTER POLICY maintenance ON ' || :schema
       || '.idempotency_keys TO ' || quote_ident(pg_get_userbyid(relowner))
  FROM keys
 WHERE NOT EXISTS (
   SELECT
     FROM pg_policy AS p
    WHERE p.polrelid = keys.oid
      AND p.polname = 'maintenance'
      AND p.polroles = ARRAY[relowner])
UNION ALL
-- Without the constraint, two calls with one key that are recorded at the same time both have their effect.
SELECT 'the table ' || quote_ident(:schema) || '.idempotency_keys has no unique constraint on (idempotency_key, user_uuid, tenant, project),'
       || ' so two calls with one key can both run; call ALTER TABLE ' || quote_ident(:schema) || '.idempotency_keys'
       || ' ADD CONSTRAINT idempotency_keys_key UNIQUE (idempotency_key, user_uuid, tenant, project)'
  FROM keys
 WHERE NOT EXISTS (
   SELECT
     FROM pg_index AS i
    WHERE i.indrelid = keys.oid
      AND i.indisunique
      AND i.indisvalid
      AND i.indimmediate
      AND i.indpred IS NULL
      AND i.indexprs IS NULL
      AND i.indnkeyatts = 4
      AND ARRAY(SELECT CAST(a.attname AS text)
                  FROM pg_attribute AS a
                 WHERE a.attrelid = keys.oid
                   AND a.attnum = ANY (i.indkey)
                 ORDER BY 1) = ARRAY['idempotency_key', 'project', 'tenant', 'user_uuid'])
UNION ALL
-- The policies of the table do not apply to direct access to a partition.
SELECT 'the partition ' || quote_ident(:schema) || '.' || p.relname || ' is not protected: row-level security is not enabled and forced;'
       || ' call ALTER TABLE ' || quote_ident(:schema) || '.' || p.relname || ' ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'
  FROM partitions AS p
 WHERE NOT (p.relrowsecurity AND p.relforcerowsecurity)
UNION ALL
SELECT 'the partition ' || quote_ident(:schema) || '.' || p.relname || ' is not swept: it belongs to ' || pg_get_userbyid(p.relowner)
       || ', or its policy maintenance is not granted to the table''s owner alone; call ALTER POLICY maintenance ON '
       || quote_ident(:schema) || '.' || p.relname || ' TO ' || quote_ident(pg_get_userbyid(keys.relowner))
  FROM keys, partitions AS p
 WHERE p.relowner <> keys.relowner
    OR NOT EXISTS (
      SELECT
        FROM pg_policy AS s
       WHERE s.polrelid = p.oid
         AND s.polname = 'maintenance'
         AND s.polroles = ARRAY[keys.relowner])
