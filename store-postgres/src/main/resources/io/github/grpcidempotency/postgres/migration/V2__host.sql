-- What the host's own migration calls.

-- Lets records refer to a resource type: adds the column <resource_type>_id, its foreign key and its index. The column has the type of
-- the referenced column: uuid, bigint, integer or text. The caller must own the table of keys and have the REFERENCES privilege on the
-- referenced table.
--
-- indexed => false omits the index: a completion may then be a HOT update, but the deletion of a resource reads the whole table of
-- keys. enforced => false omits the foreign key and the index: a record may then refer to a resource that does not exist, and the
-- table may be null. id_type is then the type of the column, uuid by default.
CREATE FUNCTION "${schema}".add_resource_type(
    resource_type text, referenced_table regclass, referenced_column name DEFAULT 'id',
    enforced boolean DEFAULT true, indexed boolean DEFAULT true, id_type regtype DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql
AS $$
DECLARE
  key_column text := resource_type || '_id';
  key_type   regtype := COALESCE(id_type, 'uuid');
BEGIN
  IF resource_type !~ '^[a-z][a-z0-9_]{0,59}$' THEN
    RAISE EXCEPTION 'a resource type is lower case snake case of at most 60 characters, not "%"', resource_type;
  END IF;
  IF referenced_table IS NOT NULL THEN
    SELECT a.atttypid
      INTO key_type
      FROM pg_attribute AS a
     WHERE a.attrelid = referenced_table AND a.attname = referenced_column AND NOT a.attisdropped;
    IF key_type = 'varchar'::regtype THEN
      key_type := 'text';
    END IF;
  ELSIF enforced THEN
    RAISE EXCEPTION 'the resource type "%" has no table to refer to: name it, or pass enforced => false', resource_type;
  END IF;
  IF COALESCE(key_type NOT IN ('uuid'::regtype, 'bigint'::regtype, 'integer'::regtype, 'text'::regtype), true) THEN
    RAISE EXCEPTION 'the resource type "%" cannot have ids of %.%, whose type is %: it has to be uuid, bigint, integer or text',
      resource_type, referenced_table, referenced_column, COALESCE(key_type::text, 'unknown')
      USING HINT = 'Name the table and the column with the ids that responses contain, or let the procedure have no resource.';
  END IF;

  DELETE FROM "${schema}".idempotency_facts AS f WHERE f.name = key_column;
  IF NOT enforced THEN
    EXECUTE format('ALTER TABLE "${schema}".idempotency_keys ADD COLUMN %I %s', key_column, key_type);
    INSERT INTO "${schema}".idempotency_facts VALUES (key_column, 'not enforced');
    RETURN;
  END IF;
  EXECUTE format(
    'ALTER TABLE "${schema}".idempotency_keys ADD COLUMN %I %s REFERENCES %s (%I) ON DELETE SET NULL',
    key_column, key_type, referenced_table, referenced_column);
  IF indexed THEN
    EXECUTE format(
      'CREATE INDEX ON "${schema}".idempotency_keys (%I) WHERE %I IS NOT NULL', key_column, key_column);
  END IF;
END;
$$;

-- Creates an index of the table of keys, unless there is one with this name. Servers may start together: the lock lets one of them
-- create the index while the others wait. A table that has the index is not locked.
CREATE FUNCTION "${schema}".add_index(index_name name, definition text) RETURNS void
  LANGUAGE plpgsql
AS $$
BEGIN
  IF to_regclass('"${schema}".' || quote_ident(index_name)) IS NULL THEN
    LOCK TABLE "${schema}".idempotency_keys IN SHARE UPDATE EXCLUSIVE MODE;
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON "${schema}".idempotency_keys %s', index_name, definition);
  END IF;
END;
$$;

-- Lets callers list their operations, and operators those of a user, by an index. Call it if the service offers that: the index costs
-- every call a little.
CREATE FUNCTION "${schema}".add_operation_index() RETURNS void
  LANGUAGE sql
AS $$
  SELECT "${schema}".add_index('idempotency_keys_operations', '(user_uuid, id)');
$$;

-- Lets operators list and erase the operations of a tenant by an index. It costs the calls of tenants a little, and others nothing.
CREATE FUNCTION "${schema}".add_tenant_index() RETURNS void
  LANGUAGE sql
AS $$
  SELECT "${schema}".add_index('idempotency_keys_tenants', $index$(tenant, id) WHERE tenant <> ''$index$);
$$;

-- Lets operators find reservations, and metrics count them, by an index. It is as small as the number of running calls, but costs
-- each reserved call 80 bytes of WAL, and 350 if its procedure has no resource type, because a completion is then no HOT update.
CREATE FUNCTION "${schema}".add_in_flight_index() RETURNS void
  LANGUAGE sql
AS $$
  SELECT "${schema}".add_index('idempotency_keys_in_flight', '(id) WHERE completed IS NULL');
$$;

-- Gives the application's role the rights that the store needs, and takes other rights on the schema and the tables.
CREATE FUNCTION "${schema}".grant_to(application_role name) RETURNS void
  LANGUAGE plpgsql
AS $$
BEGIN
  EXECUTE format(
    'REVOKE ALL ON SCHEMA "${schema}" FROM %1$I;'
    'GRANT USAGE ON SCHEMA "${schema}" TO %1$I;'
    'REVOKE ALL ON "${schema}".idempotency_keys, "${schema}".idempotency_waits, "${schema}".idempotency_facts FROM %1$I;'
    'GRANT SELECT, INSERT, UPDATE, DELETE ON "${schema}".idempotency_keys TO %1$I;'
    'GRANT SELECT, INSERT, DELETE ON "${schema}".idempotency_waits TO %1$I;'
    'GRANT SELECT ON "${schema}".idempotency_facts TO %1$I;'
    'GRANT EXECUTE ON FUNCTION "${schema}".current_user_id, "${schema}".current_user_ids, "${schema}".renew_leases, "${schema}".in_flight, "${schema}".sweep_expired,'
    ' "${schema}".answer_beginnings, "${schema}".answers_after, "${schema}".refer_if_it_stands, "${schema}".refuse_claim, "${schema}".refuse_commit, "${schema}".statistics TO %1$I',
    application_role);
END;
$$;

SELECT "${schema}".keep_for_owner(
  'add_resource_type', 'add_index', 'add_operation_index', 'add_tenant_index', 'add_in_flight_index', 'grant_to');

UPDATE "${schema}".idempotency_facts SET value = '2' WHERE name = 'version';
