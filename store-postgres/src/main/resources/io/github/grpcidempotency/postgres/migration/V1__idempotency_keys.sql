-- The tables, and the functions that servers call. ${schema} is the library's own schema. Run these files as the role that is to own
-- the tables, which must not be the application's role.

-- Takes from everybody but the owner every right on these tables, sequences and functions, because the owner's default privileges may
-- have given rights. Each migration calls it for what it has created.
CREATE FUNCTION "${schema}".keep_for_owner(VARIADIC names text[]) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT format(
             'REVOKE ALL ON %s %s FROM %s', o.kind, o.name,
             CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) AS statement
      FROM (SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, c.oid::regclass::text AS name,
                   c.relowner AS owner, c.relacl AS acl
              FROM pg_class AS c
             WHERE c.relnamespace = '"${schema}"'::regnamespace AND c.relname = ANY (names)
             UNION ALL
            SELECT 'ROUTINE', p.oid::regprocedure::text, p.proowner, COALESCE(p.proacl, acldefault('f', p.proowner))
              FROM pg_proc AS p
             WHERE p.pronamespace = '"${schema}"'::regnamespace AND p.proname = ANY (names)) AS o
     CROSS JOIN LATERAL (SELECT DISTINCT e.grantee FROM aclexplode(o.acl) AS e WHERE e.grantee <> o.owner) AS a
  LOOP
    EXECUTE given.statement;
  END LOOP;
END;
$$;

-- One row per keyed call: a reservation with a lease while the call runs, and the recorded answer afterwards. Only the columns of
-- resource types, which add_resource_type creates, have names that end in _id.
CREATE TABLE "${schema}".idempotency_keys (
  id              uuid        NOT NULL,               -- UUIDv7, so that new rows are next to each other in the index
  idempotency_key text        NOT NULL COLLATE "C",   -- as the client sends it, after its source's prefix
  user_uuid       uuid        NOT NULL,
  tenant          text        NOT NULL DEFAULT '' COLLATE "C", -- empty outside all tenants
  project         text        NOT NULL DEFAULT '' COLLATE "C", -- empty outside all projects
  procedure       text        NOT NULL,               -- full gRPC method name
  request_hash    bytea       NOT NULL,
  hash_version    smallint    NOT NULL,
  response_bytes  bytea,                              -- the recorded response, unless it is made from the resource
  status_bytes    bytea,                              -- the recorded error
  attempt         integer     NOT NULL DEFAULT 1,     -- the fencing token
  lease_expires   timestamptz,                        -- null if the row was first written with its answer
  created         timestamptz NOT NULL DEFAULT now(),
  completed       timestamptz,                        -- null while the call runs
  expires         timestamptz NOT NULL,
  outcome_unknown boolean     NOT NULL DEFAULT false, -- the handler ended, but whether it succeeded is unknown
  server          text,                               -- the server with the reservation; null if lease_expires is null
  trace           bytea,                              -- the trace of the run that made, or will make, the answer
  names_resource  boolean     NOT NULL DEFAULT false, -- without a reference, the resource of the answer was deleted
  former_servers  text[],                             -- the servers of the earlier attempts, in order
  taken_over      timestamptz[],                      -- the time at which each of them lost the reservation
  retained        timestamptz,                        -- the last replay that has moved expires
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (id),
  CONSTRAINT idempotency_keys_key UNIQUE (idempotency_key, user_uuid, tenant, project)
);

CREATE INDEX idempotency_keys_expires ON "${schema}".idempotency_keys (expires);

-- The user of the current transaction; null if none is set. After a commit, a transaction-local setting is '' instead of null.
CREATE FUNCTION "${schema}".current_user_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN NULLIF(current_setting('app.current_user_id', true), '')::uuid;

-- The users of the current transaction if it serves several calls; null if none are set.
CREATE FUNCTION "${schema}".current_user_ids() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN NULLIF(current_setting('app.current_user_ids', true), '')::uuid[];

ALTER TABLE "${schema}".idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE "${schema}".idempotency_keys FORCE ROW LEVEL SECURITY;

-- A tenant or project that is not set, or that a commit has reset, is empty.
CREATE POLICY own_rows ON "${schema}".idempotency_keys
  FOR ALL
  USING (user_uuid = "${schema}".current_user_id()
         AND tenant = COALESCE(current_setting('idempotency.tenant', true), '')
         AND project = COALESCE(current_setting('idempotency.project', true), ''));

-- The subquery is evaluated once for a statement instead of once for a row.
CREATE POLICY rows_of_batch ON "${schema}".idempotency_keys
  FOR ALL USING (user_uuid = ANY ((SELECT "${schema}".current_user_ids())::uuid[]));

-- Leases are renewed, and expired rows are deleted, for all users at once, by functions that run as the table's owner. Outside the
-- operators' functions, answer_beginnings and answers_after, the owner sees no other rows.
CREATE POLICY maintenance ON "${schema}".idempotency_keys
  FOR ALL TO CURRENT_USER
  USING (completed IS NULL OR expires <= now());

-- Inside these functions, the owner sees every row. They switch this setting on, and off before they return, because only a
-- superuser could make it a setting of the function. For every other role, the setting has no effect.
CREATE POLICY operators ON "${schema}".idempotency_keys
  FOR ALL TO CURRENT_USER
  USING (current_setting('idempotency.operator', true) = 'on');

-- Operations for whose end other servers wait. The server that ends one of them notifies the others. Contains hashes only.
CREATE UNLOGGED TABLE "${schema}".idempotency_waits (
  lock_id bigint      NOT NULL PRIMARY KEY,
  created timestamptz NOT NULL DEFAULT now()
);

-- Facts about this schema, none about users. Servers read them; only the owner writes them: in migrations, and in renew_leases.
--   version        the number of the last migration
--   shard          the name of this database, if callers are on several databases
--   <column>       'not enforced', for the column of a resource type without a foreign key
--   longest_lease  the longest lease that a server has used, in milliseconds
CREATE TABLE "${schema}".idempotency_facts (
  name  text NOT NULL PRIMARY KEY,
  value text NOT NULL
);

INSERT INTO "${schema}".idempotency_facts VALUES ('version', '1');

-- Renews the leases of a server, and returns the ids of those that it still owns.
CREATE FUNCTION "${schema}".renew_leases(ids uuid[], attempts integer[], lease interval) RETURNS SETOF uuid
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
  -- Without the condition, every call would lock the row.
  INSERT INTO "${schema}".idempotency_facts AS f
  SELECT 'longest_lease', (extract(epoch FROM lease) * 1000)::bigint::text
   WHERE NOT EXISTS (
     SELECT
       FROM "${schema}".idempotency_facts AS known
      WHERE known.name = 'longest_lease'
        AND known.value::bigint * interval '1 millisecond' >= lease)
  ON CONFLICT (name) DO UPDATE SET value = greatest(f.value::bigint, excluded.value::bigint)::text;

  -- Skips a row that the handler's transaction has locked in order to complete it.
  WITH free AS (
    SELECT k.id
      FROM "${schema}".idempotency_keys AS k
      JOIN unnest(ids, attempts) AS owned (id, attempt)
        ON k.id = owned.id AND k.attempt = owned.attempt
     WHERE k.completed IS NULL
       FOR UPDATE OF k SKIP LOCKED
  ), renewed AS (
    UPDATE "${schema}".idempotency_keys AS k
       SET lease_expires = clock_timestamp() + lease
      FROM free
     WHERE k.id = free.id
  )
  SELECT k.id
    FROM "${schema}".idempotency_keys AS k
    JOIN unnest(ids, attempts) AS owned (id, attempt)
      ON k.id = owned.id AND k.attempt = owned.attempt
   WHERE k.completed IS NULL;
$$;

-- Returns the locks of those operations that run: their reservation has a live lease and no unknown outcome, or a transaction has
-- their advisory lock.
CREATE FUNCTION "${schema}".in_flight(keys text[], users uuid[], tenants text[], projects text[], locks bigint[]) RETURNS SETOF bigint
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
  WITH watched AS (
    SELECT *
      FROM unnest(keys, users, tenants, projects, locks) AS w (idempotency_key, user_uuid, tenant, project, lock_id)
  ), held AS (
    SELECT (l.classid::bigint << 32) | l.objid::bigint AS lock_id
      FROM pg_locks AS l
     WHERE l.locktype = 'advisory'
       AND l.objsubid = 1
       AND l.granted
       AND l.mode = 'ExclusiveLock' -- claims of reserved calls share the lock for a moment
       AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
  )
  SELECT w.lock_id
    FROM watched AS w
    JOIN "${schema}".idempotency_keys AS k USING (idempotency_key, user_uuid, tenant, project)
   WHERE k.completed IS NULL
     AND k.lease_expires > now()
     AND NOT k.outcome_unknown
  UNION
  SELECT w.lock_id FROM watched AS w JOIN held USING (lock_id);
$$;

-- Deletes one batch of expired rows without a live lease, and returns their number. Skips rows that another sweep has locked. If the
-- table is partitioned, begins with a random partition, so that servers that sweep at the same time mostly use different ones.
CREATE FUNCTION "${schema}".sweep_expired(batch integer) RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  keys  CONSTANT regclass := '"${schema}".idempotency_keys'::regclass;
  part  regclass;
  found integer;
  swept integer := 0;
BEGIN
  FOR part IN
    SELECT keys FROM pg_class AS c WHERE c.oid = keys AND c.relkind = 'r'
    UNION ALL
    (SELECT i.inhrelid::regclass FROM pg_inherits AS i WHERE i.inhparent = keys ORDER BY random())
  LOOP
    -- The planner assumes that an array is short. With a join, it may read the whole table.
    EXECUTE format(
      'DELETE FROM %1$s AS k'
      ' WHERE k.id = ANY (ARRAY('
      '   SELECT e.id'
      '     FROM %1$s AS e'
      '    WHERE e.expires <= now()'
      '      AND (e.completed IS NOT NULL OR e.lease_expires <= now())'
      '    ORDER BY e.expires'
      '    LIMIT $1'
      '      FOR UPDATE SKIP LOCKED))',
      part)
      USING batch - swept;
    GET DIAGNOSTICS found = ROW_COUNT;
    swept := swept + found;
    EXIT WHEN swept >= batch;
  END LOOP;

  DELETE FROM "${schema}".idempotency_waits AS w
   WHERE w.lock_id = ANY (ARRAY(
     SELECT old.lock_id
       FROM "${schema}".idempotency_waits AS old
      WHERE old.created < now() - interval '1 hour'
        FOR UPDATE SKIP LOCKED));
  RETURN swept;
END;
$$;

-- The first five bytes of the encrypted answers of a procedure, among the newest 2,000 rows, and no bytes for answers that are not
-- encrypted. At its start, a server reads from them which keys have encrypted the answers. An encrypted answer begins with a byte that
-- no message begins with, and the id of its key.
CREATE FUNCTION "${schema}".answer_beginnings(of_procedure text) RETURNS SETOF bytea
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
BEGIN
  PERFORM set_config('idempotency.operator', 'on', true);
  RETURN QUERY
    SELECT DISTINCT CASE WHEN substring(newest.answer FROM 1 FOR 1) IN ('\x00', '\x01')
                         THEN substring(newest.answer FROM 1 FOR 5)
                         ELSE ''
                     END
      FROM (SELECT k.procedure, k.expires, COALESCE(k.response_bytes, k.status_bytes) AS answer
              FROM "${schema}".idempotency_keys AS k
             ORDER BY k.id DESC
             LIMIT 2000) AS newest
     WHERE newest.procedure = of_procedure
       AND newest.expires > now()
       AND newest.answer IS NOT NULL;
  PERFORM set_config('idempotency.operator', 'off', true);
END;
$$;

-- The recorded answers of a procedure with a resource, from a place in the order of their ids on, and who got them; nothing of their
-- contents. Metrics ask the outbox for the work behind them, on behalf of their callers. Reads at most 20,000 rows: of the last hour if
-- there is no place, and none of the last minute, because a call with a smaller id may still be running. Each row of the result has the
-- place up to which it has read, null if there was nothing to read; without an answer, that is the only column of one row.
CREATE FUNCTION "${schema}".answers_after(of_procedure text, key_column name, place uuid)
  RETURNS TABLE (
    read_up_to uuid, id uuid, user_uuid uuid, tenant text, project text, resource_id text, age_millis bigint)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
BEGIN
  IF key_column !~ '_id$' THEN
    RAISE EXCEPTION '% is not the column of a resource type', key_column USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM set_config('idempotency.operator', 'on', true);
  RETURN QUERY EXECUTE format(
    'WITH read AS ('
    '  SELECT k.id, k.user_uuid, k.tenant, k.project, k.procedure, k.%I::text AS resource_id, k.completed, k.expires'
    '    FROM "${schema}".idempotency_keys AS k'
    '   WHERE k.id >= COALESCE($2, $3) AND k.id < $4'
    '   ORDER BY k.id'
    '   LIMIT 20000'
    ')'
    ' SELECT (SELECT r.id FROM read AS r ORDER BY r.id DESC LIMIT 1), a.id, a.user_uuid, a.tenant, a.project, a.resource_id,'
    '        (extract(epoch FROM now() - a.completed) * 1000)::bigint'
    '   FROM (VALUES (1)) AS always'
    '   LEFT JOIN (SELECT *'
    '                FROM read AS r'
    '               WHERE r.procedure = $1 AND r.resource_id IS NOT NULL AND r.completed IS NOT NULL AND r.expires > now()'
    '               ORDER BY r.id'
    '               LIMIT 1000) AS a ON true'
    '  ORDER BY a.id',
    key_column)
    USING of_procedure, place,
          (lpad(to_hex((extract(epoch FROM now() - interval '1 hour') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid,
          (lpad(to_hex((extract(epoch FROM now() - interval '1 minute') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
  PERFORM set_config('idempotency.operator', 'off', true);
END;
$$;

-- Lets the record of a delete refer to its resource, if the resource still exists. Only the foreign key can decide this, because the
-- role may not see the row, and another transaction may be deleting it.
CREATE FUNCTION "${schema}".refer_if_it_stands(record uuid, fence integer, key_column name, resource anyelement) RETURNS void
  LANGUAGE plpgsql STRICT
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format(
    'UPDATE "${schema}".idempotency_keys AS k SET %I = $1'
    ' WHERE k.id = $2 AND k.attempt = $3 AND (k.completed IS NULL OR k.lease_expires IS NULL)',
    key_column)
    USING resource, record, fence;
EXCEPTION
  WHEN foreign_key_violation THEN NULL;
END;
$$;

-- Fails, so that nothing that is sent behind it is done.
CREATE FUNCTION "${schema}".refuse_claim() RETURNS integer
  LANGUAGE plpgsql VOLATILE -- otherwise the planner would call it
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'the key is not free'
    USING ERRCODE = 'IK001', HINT = 'This is no fault: a duplicate is rolled back, and gets the recorded answer.';
END;
$$;

-- Fails, so that the transaction is not committed.
CREATE FUNCTION "${schema}".refuse_commit(code text) RETURNS void
  LANGUAGE plpgsql VOLATILE
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'this transaction may not be committed with the record of its call'
    USING ERRCODE = code;
END;
$$;

-- Whether a lease ends later than a server can have set it, because the database's clock went back. A lease ends at most one lease
-- after now. Twice as late allows for small steps of the clock.
CREATE FUNCTION "${schema}".ends_too_late(lease_expires timestamptz, created timestamptz) RETURNS boolean
  LANGUAGE sql STABLE
AS $$
  SELECT lease_expires > now() + 2 * COALESCE(
           (SELECT f.value::bigint * interval '1 millisecond' FROM "${schema}".idempotency_facts AS f WHERE f.name = 'longest_lease'),
           lease_expires - created);
$$;

-- The table in numbers. The number of rows is the planner's estimate; at most 10,001 expired rows are counted; and reservations are
-- counted only if add_in_flight_index has made their index. A reservation is stuck if its lease has ended, or ends too late. key_locks
-- counts the advisory locks with a number of 64 bits: those of transactional calls, and those that the host itself takes.
CREATE FUNCTION "${schema}".statistics()
  RETURNS TABLE (
    rows bigint, bytes bigint, in_flight bigint, stuck bigint, unknown bigint, oldest_in_flight interval,
    expired bigint, expired_is_more boolean, sweep_lag interval, key_locks bigint)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
  SET enable_seqscan = off -- metrics call this often, and the planner prefers to read a table of up to 40,000 pages whole
  SET jit = off -- it takes long, and starts because a plan that is switched off has a high cost
AS $$
  WITH size AS (
    SELECT sum(CASE WHEN c.reltuples > 0 AND c.relpages > 0
                    THEN (c.reltuples / c.relpages
                          * (pg_relation_size(c.oid) / current_setting('block_size')::integer))::bigint
                    ELSE pg_stat_get_live_tuples(c.oid) -- never vacuumed or analysed
               END)::bigint AS rows,
           sum(pg_total_relation_size(c.oid))::bigint AS bytes
      FROM pg_class AS c
     WHERE (c.oid = '"${schema}".idempotency_keys'::regclass AND c.relkind = 'r')
        OR c.oid IN (SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = '"${schema}".idempotency_keys'::regclass)
  ), indexed AS (
    SELECT to_regclass('"${schema}".idempotency_keys_in_flight') IS NOT NULL AS found
  ), reserved AS (
    SELECT count(*) AS in_flight,
           count(*) FILTER (
             WHERE k.lease_expires <= now() OR "${schema}".ends_too_late(k.lease_expires, k.created)) AS stuck,
           count(*) FILTER (WHERE k.outcome_unknown) AS unknown,
           greatest(now() - min(k.created), interval '0') AS oldest
      FROM "${schema}".idempotency_keys AS k
     WHERE k.completed IS NULL
       AND (k.lease_expires > now() OR k.expires > now()) -- otherwise it has expired
       AND (SELECT found FROM indexed)
  ), ended AS (
    SELECT count(*) AS expired, now() - min(e.expires) AS lag
      FROM (SELECT k.expires
              FROM "${schema}".idempotency_keys AS k
             WHERE k.expires <= now()
               AND (k.completed IS NOT NULL OR k.lease_expires <= now())
             ORDER BY k.expires
             LIMIT 10001) AS e
  )
  SELECT size.rows, size.bytes,
         CASE WHEN indexed.found THEN reserved.in_flight END,
         CASE WHEN indexed.found THEN reserved.stuck END,
         CASE WHEN indexed.found THEN reserved.unknown END,
         reserved.oldest,
         least(ended.expired, 10000), ended.expired > 10000, ended.lag,
         (SELECT count(*)
            FROM pg_locks AS l
           WHERE l.locktype = 'advisory'
             AND l.objsubid = 1
             AND l.granted
             AND l.mode = 'ExclusiveLock'
             AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
    FROM size, indexed, reserved, ended;
$$;

SELECT "${schema}".keep_for_owner(
  'flyway_schema_history', 'idempotency_keys', 'idempotency_waits', 'idempotency_facts', 'keep_for_owner', 'renew_leases',
  'in_flight', 'sweep_expired', 'answer_beginnings', 'answers_after', 'refer_if_it_stands', 'refuse_claim', 'refuse_commit', 'ends_too_late',
  'statistics');
