-- What has to do with the host's own tables: what its migration calls, once per resource type and once for its application
-- role, and how a record refers to a resource that may be gone.

-- Lets records refer to a resource type: adds the column <resource_type>_id with its foreign key
-- and index, and keeps the rule that a record refers to one resource at most. The caller must own
-- the table of keys and have the REFERENCES privilege on the referenced table.
CREATE FUNCTION ${schema}.add_resource_type(
    resource_type text, referenced_table regclass, referenced_column name DEFAULT 'id')
  RETURNS void
  LANGUAGE plpgsql
AS $$
DECLARE
  key_column text := resource_type || '_id';
  all_columns text;
BEGIN
  IF resource_type !~ '^[a-z][a-z0-9_]{0,59}$' THEN
    RAISE EXCEPTION 'a resource type is lower case snake case of at most 60 characters, not "%"',
      resource_type;
  END IF;

  EXECUTE format(
    'ALTER TABLE ${schema}.idempotency_keys ADD COLUMN %I uuid REFERENCES %s (%I) ON DELETE SET NULL',
    key_column, referenced_table, referenced_column);
  EXECUTE format(
    'CREATE INDEX ON ${schema}.idempotency_keys (%I) WHERE %I IS NOT NULL', key_column, key_column);

  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
    INTO all_columns
    FROM pg_constraint AS c
    JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
   WHERE c.conrelid = '${schema}.idempotency_keys'::regclass
     AND c.contype = 'f';
  ALTER TABLE ${schema}.idempotency_keys DROP CONSTRAINT IF EXISTS idempotency_keys_one_resource;
  EXECUTE format(
    'ALTER TABLE ${schema}.idempotency_keys'
    ' ADD CONSTRAINT idempotency_keys_one_resource CHECK (num_nonnulls(%s) <= 1)',
    all_columns);
END;
$$;

-- Lets callers list their operations without reading everybody's. Call it if the service offers them:
-- the index costs every call a little.
CREATE FUNCTION ${schema}.add_operation_index()
  RETURNS void
  LANGUAGE sql
AS $$
  CREATE INDEX IF NOT EXISTS idempotency_keys_operations ON ${schema}.idempotency_keys (user_id, id);
$$;

-- Lets the record of a delete refer to its resource, if that still stands. The foreign key itself judges, whatever the role
-- may see of the host's table, and whoever else deletes the row meanwhile; a record that cannot refer stays as it is.
CREATE FUNCTION ${schema}.refer_if_it_stands(record uuid, fence integer, key_column name, resource uuid)
  RETURNS void
  LANGUAGE plpgsql STRICT
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format(
    'UPDATE ${schema}.idempotency_keys AS k SET %I = $1'
    ' WHERE k.id = $2 AND k.attempt = $3 AND (k.completed IS NULL OR k.lease_expires IS NULL)',
    key_column)
    USING resource, record, fence;
EXCEPTION
  WHEN foreign_key_violation THEN NULL;
END;
$$;

-- Gives the application's role what the store needs, and no more.
CREATE FUNCTION ${schema}.grant_to(application_role name)
  RETURNS void
  LANGUAGE plpgsql
AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA ${schema} TO %I', application_role);
  EXECUTE format(
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.idempotency_keys TO %I', application_role);
  EXECUTE format(
    'GRANT EXECUTE ON FUNCTION ${schema}.renew_leases(uuid[], integer[], interval),'
    ' ${schema}.in_flight(text[], uuid[], bigint[]), ${schema}.sweep_expired(integer),'
    ' ${schema}.refer_if_it_stands(uuid, integer, name, uuid), ${schema}.current_user_id() TO %I',
    application_role);
  EXECUTE format(
    'GRANT SELECT, INSERT, DELETE ON ${schema}.idempotency_waits TO %I', application_role);
END;
$$;

REVOKE ALL ON FUNCTION ${schema}.add_resource_type(text, regclass, name) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.add_operation_index() FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.refer_if_it_stands(uuid, integer, name, uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.grant_to(name) FROM PUBLIC;
