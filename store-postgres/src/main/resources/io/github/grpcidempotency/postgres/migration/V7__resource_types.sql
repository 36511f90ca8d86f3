-- What a resource type costs every call, and what its host may do without.

-- PostgreSQL parses a check constraint again for every statement that writes a row, and this one took a twentieth of the database's
-- time. The store writes one of the columns at most: its statements name no other.
ALTER TABLE ${schema}.idempotency_keys DROP CONSTRAINT IF EXISTS idempotency_keys_one_resource;

-- Lets records refer to a resource type: adds the column <resource_type>_id with its foreign key and index. The caller must own
-- the table of keys and have the REFERENCES privilege on the referenced table.
--
-- Without an index (indexed => false) a completion may be a HOT update, but whoever deletes a resource has the whole table of keys
-- read. Without enforcement (enforced => false) there is neither key nor index: a record goes on referring to a resource that is
-- gone, or never was, and the table may be null. If a table is named, its column must be a uuid as well: no record could name a row
-- of another table.
DROP FUNCTION ${schema}.add_resource_type(text, regclass, name);
CREATE FUNCTION ${schema}.add_resource_type(
    resource_type text, referenced_table regclass, referenced_column name DEFAULT 'id',
    enforced boolean DEFAULT true, indexed boolean DEFAULT true)
  RETURNS void
  LANGUAGE plpgsql
AS $$
DECLARE
  key_column text := resource_type || '_id';
BEGIN
  IF resource_type !~ '^[a-z][a-z0-9_]{0,59}$' THEN
    RAISE EXCEPTION 'a resource type is lower case snake case of at most 60 characters, not "%"',
      resource_type;
  END IF;

  IF NOT enforced THEN
    IF NOT EXISTS (
      SELECT
        FROM pg_attribute AS a
       WHERE a.attrelid = referenced_table
         AND a.attname = referenced_column
         AND a.atttypid = 'uuid'::regtype
         AND NOT a.attisdropped)
       AND referenced_table IS NOT NULL
    THEN
      RAISE EXCEPTION 'the table % has no column "%" of the type uuid, so no record could name its rows as the resource type "%"',
        referenced_table, referenced_column, resource_type
        USING HINT = 'Name the table and the column with the UUIDs that responses contain, or let the procedure have no resource.';
    END IF;
    EXECUTE format('ALTER TABLE ${schema}.idempotency_keys ADD COLUMN %I uuid', key_column);
    -- By this, the check at start-up and the operators' functions know the column.
    EXECUTE format(
      'COMMENT ON COLUMN ${schema}.idempotency_keys.%I IS %L', key_column, 'a resource type that is not enforced');
    RETURN;
  END IF;

  IF referenced_table IS NULL THEN
    RAISE EXCEPTION 'the resource type "%" has no table to refer to: name it, or pass enforced => false', resource_type;
  END IF;
  EXECUTE format(
    'ALTER TABLE ${schema}.idempotency_keys ADD COLUMN %I uuid REFERENCES %s (%I) ON DELETE SET NULL',
    key_column, referenced_table, referenced_column);
  IF indexed THEN
    EXECUTE format(
      'CREATE INDEX ON ${schema}.idempotency_keys (%I) WHERE %I IS NOT NULL', key_column, key_column);
  END IF;
END;
$$;

-- As before, and resources that are not enforced.
CREATE OR REPLACE FUNCTION ${schema}.operation_columns() RETURNS text
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  WITH resources AS (
    SELECT a.attname
      FROM pg_attribute AS a
     WHERE a.attrelid = '${schema}.idempotency_keys'::regclass
       AND a.atttypid = 'uuid'::regtype
       AND a.attname ~ '_id$'
       AND (col_description(a.attrelid, a.attnum) = 'a resource type that is not enforced'
            OR EXISTS (
              SELECT
                FROM pg_constraint AS c
               WHERE c.conrelid = a.attrelid
                 AND c.contype = 'f'
                 AND c.conkey = ARRAY[a.attnum]))
  )
  SELECT format(
           'k.id, k.idempotency_key, k.user_id, k.procedure,'
           ' CASE WHEN k.completed IS NULL AND k.lease_expires > now()'
           '      THEN CASE WHEN k.outcome_unknown THEN ''unknown'' ELSE ''running'' END'
           '      WHEN k.expires <= now() THEN ''expired'''
           '      WHEN k.completed IS NULL THEN ''stuck'''
           '      WHEN k.status_bytes IS NOT NULL THEN ''failed'''
           '      ELSE ''completed'''
           ' END AS state,'
           ' k.outcome_unknown, k.attempt, k.server, k.trace, k.created, k.lease_expires, k.completed, k.expires,'
           ' CASE %s ELSE NULL::text END AS resource_type,'
           ' COALESCE(%s NULL::uuid) AS resource_id,'
           ' COALESCE(octet_length(k.response_bytes), octet_length(k.status_bytes), 0) AS answer_bytes,'
           ' now() AS read',
           COALESCE(
             string_agg(format('WHEN k.%I IS NOT NULL THEN %L', attname, left(attname, -3)), ' '),
             'WHEN false THEN NULL'),
           COALESCE(string_agg(format('k.%I, ', attname), ''), ''))
    FROM resources;
$$;

REVOKE ALL ON FUNCTION ${schema}.add_resource_type(text, regclass, name, boolean, boolean) FROM PUBLIC;
