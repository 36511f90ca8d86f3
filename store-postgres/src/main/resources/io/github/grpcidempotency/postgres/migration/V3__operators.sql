-- Functions with which operators find, free, forget and erase the operations of every user. The host grants them to roles that have no
-- right on a table. Every act adds a row to the audit.

-- The secret of the hashes in the audit. Without it, a key or a user could be guessed from its hash. Only the owner has a right on
-- the table; operators search by hash through the functions.
CREATE TABLE "${schema}".idempotency_salt (
  salt bytea NOT NULL
);

INSERT INTO "${schema}".idempotency_salt
VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

CREATE FUNCTION "${schema}".keyed_hash(what text) RETURNS bytea
  LANGUAGE sql STABLE STRICT
AS $$
  SELECT sha256(s.salt || sha256(s.salt || convert_to(what, 'UTF8'))) FROM "${schema}".idempotency_salt AS s;
$$;

-- The actor and the reason of an act.
CREATE DOMAIN "${schema}".act_text AS text
  CONSTRAINT "an act needs an actor and a reason of 1 to 1,000 characters"
    CHECK (COALESCE(VALUE ~ '\S' AND length(VALUE) <= 1000, false));

-- The acts of operators. Only the owner has a right on the table.
CREATE TABLE "${schema}".idempotency_audit (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at           timestamptz NOT NULL DEFAULT clock_timestamp(),
  role         name        NOT NULL DEFAULT session_user,
  address      inet        DEFAULT inet_client_addr(), -- null for a Unix socket; behind a pooler, the pooler's
  actor        "${schema}".act_text,               -- on whose behalf, as the role claims
  act          text        NOT NULL,               -- free, forget, read_contents, sweep, erase
  operation_id uuid,
  procedure    text,
  user_id      uuid,
  attempt      integer,
  tenant       text,
  project      text,
  key_hash     bytea,                              -- keyed_hash of the key
  erased_hash  bytea,                              -- keyed_hash of the array of the erased user, tenant and project
  servers      text[],                             -- the servers that held the reservation, in order
  claimed      timestamptz,                        -- created of the operation
  recorded     timestamptz,                        -- completed of the operation
  forced       boolean     NOT NULL DEFAULT false, -- the lease of the reservation was live
  deleted      integer     NOT NULL DEFAULT 0,     -- the number of deleted rows of idempotency_keys
  result       text        NOT NULL,
  reason       "${schema}".act_text,
  transaction  xid8        NOT NULL DEFAULT pg_current_xact_id()
);

CREATE INDEX idempotency_audit_operation ON "${schema}".idempotency_audit (operation_id);
CREATE INDEX idempotency_audit_key ON "${schema}".idempotency_audit (key_hash);

CREATE FUNCTION "${schema}".refuse_change_of_audit() RETURNS trigger
  LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION 'an act of an operator is neither changed nor deleted';
END;
$$;

CREATE TRIGGER idempotency_audit_stands
  BEFORE UPDATE OR DELETE ON "${schema}".idempotency_audit
  FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".refuse_change_of_audit();

-- An operation as operators see it, without contents.
CREATE TYPE "${schema}".operation AS (
  id              uuid,
  idempotency_key text,
  user_id         uuid,
  tenant          text,
  project         text,
  procedure       text,
  state           text,
  outcome_unknown boolean,
  attempt         integer,
  server          text,
  former_servers  text[],
  taken_over      timestamptz[],
  trace           bytea,
  created         timestamptz,
  lease_expires   timestamptz,
  completed       timestamptz,
  expires         timestamptz,
  retained        timestamptz,
  lease_ahead     boolean,
  resource_type   text,
  resource_id     text,
  answer_bytes    integer,
  read            timestamptz
);

-- The state of a row of idempotency_keys. A running reservation has an owner that may complete it. The argument does not have the
-- table's type: sessions would keep the type of the present table after partitions have replaced it.
CREATE FUNCTION "${schema}".state_of(k anyelement) RETURNS text
  LANGUAGE sql STABLE
AS $$
  SELECT CASE
           WHEN k.completed IS NULL AND k.lease_expires > now()
           THEN CASE
                  WHEN "${schema}".ends_too_late(k.lease_expires, k.created) THEN 'stuck'
                  WHEN k.outcome_unknown THEN 'unknown'
                  ELSE 'running'
                END
           WHEN k.expires <= now() THEN 'expired'
           WHEN k.completed IS NULL THEN 'stuck'
           WHEN k.status_bytes IS NOT NULL THEN 'failed'
           ELSE 'completed'
         END;
$$;

-- The advisory lock of a transactional call, and the payload that notifies of the end of a call, as the store computes them: the first
-- 64 bits of a SHA-256 of user and key, whose lower half is combined with 32 bits of one of tenant and project. The upper half alone
-- thus stands for a user's key in all tenants and projects.
CREATE FUNCTION "${schema}".lock_of(of_key text, of_user uuid, of_tenant text, of_project text) RETURNS bigint
  LANGUAGE sql STABLE
AS $$
  SELECT ('x' || left(encode(sha256(uuid_send(of_user) || convert_to(of_key, 'UTF8')), 'hex'), 16))::bit(64)::bigint
         # ('x00000000' || left(encode(sha256(convert_to(of_tenant, 'UTF8') || '\x00'::bytea || convert_to(of_project, 'UTF8')), 'hex'), 8)
           )::bit(64)::bigint;
$$;

-- Lets the owner see every row until the setting is off again. Fails if the policy is another role's, as after a change of owner,
-- because operators would find nothing.
CREATE FUNCTION "${schema}".see_all_rows() RETURNS void
  LANGUAGE plpgsql
AS $$
BEGIN
  IF NOT EXISTS (
    SELECT
      FROM pg_policy AS p
     WHERE p.polrelid = '"${schema}".idempotency_keys'::regclass
       AND p.polname = 'operators'
       AND p.polroles = ARRAY(SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user))
  THEN
    RAISE EXCEPTION 'the policy operators of ${schema}.idempotency_keys is not for the owner of its functions; call'
      ' ALTER POLICY operators ON ${schema}.idempotency_keys TO %', quote_ident(current_user);
  END IF;
  PERFORM set_config('idempotency.operator', 'on', true);
END;
$$;

-- The keys that a client's text may stand for: itself, the text after the prefix of assigned ids, and the text after each of the 100
-- most frequent prefixes of the newest 10,000 rows. A prefix ends with the first colon.
CREATE FUNCTION "${schema}".keys_of(sent text) RETURNS SETOF text
  LANGUAGE sql STABLE
AS $$
  SELECT sent
  UNION
  SELECT 'id:' || sent
  UNION
  (SELECT newest.prefix || sent
     FROM (SELECT left(k.idempotency_key, strpos(k.idempotency_key, ':')) AS prefix
             FROM "${schema}".idempotency_keys AS k
            ORDER BY k.id DESC
            LIMIT 10000) AS newest
    WHERE newest.prefix <> ''
    GROUP BY newest.prefix
    ORDER BY count(*) DESC
    LIMIT 100);
$$;

-- The processes of the transactions that hold the lock of one of these keys. A transaction is known by its lock only, so if tenant or
-- project is null, transactions in all tenants and projects are meant.
CREATE FUNCTION "${schema}".transactions_of(keys text[], of_tenant text, of_project text, of_user uuid) RETURNS SETOF integer
  LANGUAGE sql STABLE
AS $$
  SELECT held.pid
    FROM unnest(keys) AS a (idempotency_key)
   CROSS JOIN LATERAL "${schema}".lock_of(a.idempotency_key, of_user, COALESCE(of_tenant, ''), COALESCE(of_project, '')) AS asked
    JOIN "${schema}".held_locks() AS held
      ON held.lock_id = asked OR (num_nulls(of_tenant, of_project) > 0 AND held.lock_id >> 32 = asked >> 32);
$$;

-- Whether a call of this user with this key runs: by a reservation with a live lease, or by a transaction, which has no row before it
-- commits. The key is as in operator_find. A null tenant or project stands for all; for transactions see transactions_of.
CREATE FUNCTION "${schema}".operator_is_running(of_key text, of_tenant text, of_project text, of_user uuid) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  keys    text[];
  running boolean;
BEGIN
  PERFORM "${schema}".see_all_rows();
  keys := ARRAY(SELECT "${schema}".keys_of(of_key));
  running := EXISTS (
      SELECT
        FROM "${schema}".idempotency_keys AS k
       WHERE k.idempotency_key = ANY (keys)
         AND k.user_uuid = of_user
         AND (of_tenant IS NULL OR k.tenant = of_tenant)
         AND (of_project IS NULL OR k.project = of_project)
         AND k.completed IS NULL
         AND k.lease_expires > now()
         AND NOT k.outcome_unknown)
    OR EXISTS (SELECT FROM "${schema}".transactions_of(keys, of_tenant, of_project, of_user));
  PERFORM set_config('idempotency.operator', 'off', true);
  RETURN running;
END;
$$;

-- The processes in which transactional calls of this user with this key run. The number is null for a prepared transaction. The arguments
-- are those of operator_is_running.
CREATE FUNCTION "${schema}".operator_transactions(of_key text, of_tenant text, of_project text, of_user uuid) RETURNS SETOF integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  keys text[];
BEGIN
  PERFORM "${schema}".see_all_rows();
  keys := ARRAY(SELECT "${schema}".keys_of(of_key));
  PERFORM set_config('idempotency.operator', 'off', true);
  RETURN QUERY SELECT "${schema}".transactions_of(keys, of_tenant, of_project, of_user);
END;
$$;

-- Finds operations: that of an id, those of a key, or all. A key may lack the prefix of its source: see keys_of. A null argument does not restrict. A tenant or project that is empty means
-- outside all tenants or projects. The function reads at most 20,000 rows of one index, so it may return less than a page. Its last row
-- then has no operation, but the place where the next page continues. The index is
--   the primary key, if an id is given, or that of keys, if a key is given;
--   that of reservations, if add_in_flight_index has made it and all states are those of reservations;
--   that of expiry, the soonest first, for expired operations and those that expire soon;
--   that of users, if add_operation_index has made it and a user is given;
--   that of tenants, if add_tenant_index has made it and a tenant is given;
--   otherwise the primary key, which is ordered by time. A server makes ids with the database's time as it knows it, so reading begins
--   one hour after older_than, and ends one hour before newer_than.
CREATE FUNCTION "${schema}".operator_find(
    operation_id uuid DEFAULT NULL, of_key text DEFAULT NULL, states text[] DEFAULT NULL, of_procedure text DEFAULT NULL,
    of_tenant text DEFAULT NULL, of_project text DEFAULT NULL, of_user uuid DEFAULT NULL, of_server text DEFAULT NULL,
    older_than interval DEFAULT NULL, newer_than interval DEFAULT NULL, expiring_within interval DEFAULT NULL,
    continued text DEFAULT NULL, page integer DEFAULT 1000)
  RETURNS TABLE (operation "${schema}".operation, continue_with text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
  SET enable_seqscan = off -- the planner would rather sort all expired rows than read 20,000 rows in the order of their index,
  SET enable_bitmapscan = off -- because it expects that row-level security hides most of them
  SET jit = off -- it takes long, and starts because a plan that is switched off has a high cost
AS $$
DECLARE
  most        CONSTANT integer := 20000;
  named       CONSTANT boolean := num_nonnulls(operation_id, of_key) > 0;
  in_flight   CONSTANT boolean := COALESCE(states <@ ARRAY['running', 'stuck', 'unknown'], false)
                                  AND to_regclass('"${schema}".idempotency_keys_in_flight') IS NOT NULL;
  by_expiry   CONSTANT boolean := NOT named AND NOT in_flight
                                  AND (expiring_within IS NOT NULL OR COALESCE(states = ARRAY['expired'], false));
  after_id    uuid;
  after_time  timestamptz;
  along       text := '($2 IS NULL OR k.id < $2)';
  sorted      text := 'id DESC';
  token       text := 'id::text';
  newest      uuid;
  oldest      uuid;
  keys        text[];
  resources   text; -- the columns of the host's resource types
  types       text;
  found       integer;
BEGIN
  PERFORM "${schema}".see_all_rows();
  IF by_expiry THEN
    after_time := 'epoch'::timestamptz + split_part(continued, '/', 1)::bigint * interval '1 microsecond';
    after_id := split_part(continued, '/', 2)::uuid;
    sorted := 'expires, id';
    token := '(extract(epoch FROM expires) * 1000000)::bigint || ''/'' || id';
    along := '($1 IS NULL OR (k.expires >= $1 AND (k.expires, k.id) > ($1, $2)))'
             || CASE WHEN expiring_within IS NULL THEN ' AND k.expires <= now()'
                     ELSE ' AND k.expires > now() AND k.expires <= now() + $8' END;
  ELSE
    after_id := continued::uuid;
    IF named THEN
      keys := CASE WHEN of_key IS NOT NULL THEN ARRAY(SELECT "${schema}".keys_of(of_key)) END;
      along := along || ' AND ($14 IS NULL OR k.id = $14) AND ($15 IS NULL OR k.idempotency_key = ANY ($15))';
    ELSIF in_flight THEN
      along := along || ' AND k.completed IS NULL';
    ELSE
      along := along || ' AND ($3 IS NULL OR k.id <= $3) AND ($11 IS NULL OR k.id >= $11)';
      newest := (lpad(to_hex((extract(epoch FROM now() - older_than + interval '1 hour') * 1000)::bigint), 12, '0')
                 || repeat('f', 20))::uuid;
      oldest := (lpad(to_hex((extract(epoch FROM now() - newer_than - interval '1 hour') * 1000)::bigint), 12, '0')
                 || repeat('0', 20))::uuid;
      IF of_user IS NOT NULL AND to_regclass('"${schema}".idempotency_keys_operations') IS NOT NULL THEN
        along := along || ' AND k.user_uuid = $4';
      ELSIF of_tenant <> '' AND to_regclass('"${schema}".idempotency_keys_tenants') IS NOT NULL THEN
        along := along || ' AND k.tenant <> '''' AND k.tenant = $5'; -- the index contains no other rows
      END IF;
    END IF;
  END IF;
  SELECT string_agg(format('k.%I::text, ', a.attname), ''),
         string_agg(format('WHEN k.%I IS NOT NULL THEN %L', a.attname, left(a.attname, -3)), ' ')
    INTO resources, types
    FROM pg_attribute AS a
   WHERE a.attrelid = '"${schema}".idempotency_keys'::regclass
     AND a.attname ~ '_id$'
     AND (EXISTS (SELECT FROM "${schema}".idempotency_facts AS f WHERE f.name = a.attname AND f.value = 'not enforced')
          OR EXISTS (
            SELECT
              FROM pg_constraint AS c
             WHERE c.conrelid = a.attrelid
               AND c.contype = 'f'
               AND c.conkey = ARRAY[a.attnum]));

  RETURN QUERY EXECUTE format(
    'SELECT ROW(o.*)::"${schema}".operation, %s'
    '  FROM (SELECT k.id, k.idempotency_key, k.user_uuid, k.tenant, k.project, k.procedure, "${schema}".state_of(k) AS state,'
    '               k.outcome_unknown, k.attempt, k.server, k.former_servers, k.taken_over, k.trace, k.created,'
    '               k.lease_expires, k.completed, k.expires, k.retained,'
    '               k.completed IS NULL AND "${schema}".ends_too_late(k.lease_expires, k.created) AS lease_ahead,'
    '               CASE %s ELSE NULL::text END AS resource_type, COALESCE(%s NULL::text) AS resource_id,'
    '               COALESCE(octet_length(k.response_bytes), octet_length(k.status_bytes), 0) AS answer_bytes, now() AS read'
    '          FROM "${schema}".idempotency_keys AS k'
    '         WHERE %s ORDER BY %s LIMIT %s) AS o'
    ' WHERE ($9 IS NULL OR o.state = ANY ($9))'
    '   AND ($10 IS NULL OR o.procedure = $10)'
    '   AND ($5 IS NULL OR o.tenant = $5)'
    '   AND ($6 IS NULL OR o.project = $6)'
    '   AND ($4 IS NULL OR o.user_uuid = $4)'
    '   AND ($7 IS NULL OR o.created <= now() - $7)'
    '   AND ($12 IS NULL OR o.created >= now() - $12)'
    '   AND ($13 IS NULL OR o.server = $13)'
    '   AND ($8 IS NULL OR (o.expires > now() AND o.expires <= now() + $8))'
    ' ORDER BY %s LIMIT %s',
    token, COALESCE(types, 'WHEN false THEN NULL'), COALESCE(resources, ''), along, sorted, most, sorted, page)
    USING after_time, after_id, newest, of_user, of_tenant, of_project, older_than, expiring_within, states, of_procedure, oldest,
          newer_than, of_server, operation_id, keys;
  GET DIAGNOSTICS found = ROW_COUNT;
  IF found < page THEN
    EXECUTE format(
      'SELECT %s FROM (SELECT k.id, k.expires FROM "${schema}".idempotency_keys AS k WHERE %s ORDER BY %s OFFSET %s LIMIT 1) AS o',
      token, along, sorted, most - 1)
      INTO continue_with
      USING after_time, after_id, newest, of_user, of_tenant, of_project, older_than, expiring_within, states, of_procedure, oldest,
            newer_than, of_server, operation_id, keys;
    IF continue_with IS NOT NULL THEN
      operation := NULL;
      RETURN NEXT;
    END IF;
  END IF;
  PERFORM set_config('idempotency.operator', 'off', true);
END;
$$;

-- The records of each procedure, and how many of them were created within the last hour and the last day. A table with more pages than
-- given is estimated from a random sample of about as many, so that a call costs the same for a table of any size.
CREATE FUNCTION "${schema}".operator_procedures(pages integer DEFAULT 10000)
  RETURNS TABLE (procedure text, records bigint, last_hour bigint, last_day bigint)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  share double precision;
BEGIN
  SELECT least(1, pages * current_setting('block_size')::bigint / greatest(sum(pg_relation_size(c.oid)), 1)::double precision)
    INTO share
    FROM pg_class AS c
   WHERE c.oid = '"${schema}".idempotency_keys'::regclass
      OR c.oid IN (SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = '"${schema}".idempotency_keys'::regclass);
  PERFORM "${schema}".see_all_rows();
  RETURN QUERY
    SELECT k.procedure,
           (count(*) / share)::bigint,
           (count(*) FILTER (WHERE k.created > now() - interval '1 hour') / share)::bigint,
           (count(*) FILTER (WHERE k.created > now() - interval '1 day') / share)::bigint
      FROM "${schema}".idempotency_keys AS k TABLESAMPLE SYSTEM (100 * share)
     GROUP BY k.procedure
     ORDER BY 2 DESC, 1;
  PERFORM set_config('idempotency.operator', 'off', true);
END;
$$;

-- Adds an act on an operation to the audit, and returns its number. k is a row of idempotency_keys.
CREATE FUNCTION "${schema}".add_to_audit(
    actor text, act text, operation_id uuid, k anyelement, forced boolean, deleted integer, result text, reason text)
  RETURNS bigint
  LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  added bigint;
BEGIN
  INSERT INTO "${schema}".idempotency_audit
    (actor, act, operation_id, procedure, user_id, attempt, tenant, project, key_hash, servers, claimed, recorded,
     forced, deleted, result, reason)
  VALUES
    (actor, act, operation_id, k.procedure, k.user_uuid, k.attempt, k.tenant, k.project, "${schema}".keyed_hash(k.idempotency_key),
     CASE WHEN k.server IS NOT NULL THEN array_append(k.former_servers, k.server) END, k.created, k.completed,
     forced, deleted, result, reason)
  RETURNING id INTO added;
  RETURN added;
END;
$$;

-- Wakes the calls that wait for an operation on other servers. They then claim its key.
CREATE FUNCTION "${schema}".wake(k anyelement) RETURNS void
  LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  ended CONSTANT bigint := "${schema}".lock_of(k.idempotency_key, k.user_uuid, k.tenant, k.project);
BEGIN
  DELETE FROM "${schema}".idempotency_waits AS w WHERE w.lock_id = ended;
  IF FOUND THEN
    PERFORM pg_notify('${schema}', ended::text);
  END IF;
END;
$$;

-- Deletes a reservation (act free) or a record (act forget), so that the next call with its key runs. The row is locked before it is
-- checked, so nothing changes it in between. Returns done, would_be_done, not_found, owner_lives (the reservation has a live lease that
-- does not end too late, and no unknown outcome), already_recorded, not_recorded, or locked (by a transaction,
-- such as one that is about to complete the row).
CREATE FUNCTION "${schema}".operator_delete(
    act text, operation_id uuid, actor "${schema}".act_text, reason "${schema}".act_text, even_if_live boolean, dry_run boolean)
  RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  k      record;
  lives  boolean;
  result text;
BEGIN
  IF COALESCE(act NOT IN ('free', 'forget'), true) THEN
    RAISE EXCEPTION 'an operation is deleted by free or forget, not by %', act USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM "${schema}".see_all_rows();
  BEGIN
    EXECUTE 'SELECT r.*, "${schema}".state_of(r) = ''running'' AS lives FROM "${schema}".idempotency_keys AS r WHERE r.id = $1'
            || CASE WHEN dry_run THEN '' ELSE ' FOR UPDATE' END
      INTO k
      USING operation_id;
    lives := k.lives;
    result := CASE
      WHEN k.id IS NULL THEN 'not_found'
      WHEN act = 'free' AND k.completed IS NOT NULL THEN 'already_recorded'
      WHEN act = 'forget' AND k.completed IS NULL THEN 'not_recorded'
      WHEN lives AND NOT even_if_live THEN 'owner_lives'
      ELSE 'done'
    END;
    IF result = 'done' AND NOT dry_run THEN
      DELETE FROM "${schema}".idempotency_keys AS r WHERE r.id = operation_id;
      PERFORM "${schema}".wake(k);
    END IF;
  EXCEPTION
    WHEN lock_not_available THEN
      SELECT * INTO k FROM "${schema}".idempotency_keys AS r WHERE r.id = operation_id;
      lives := false;
      result := 'locked';
  END;
  PERFORM set_config('idempotency.operator', 'off', true);

  IF dry_run THEN
    RETURN CASE result WHEN 'done' THEN 'would_be_done' ELSE result END;
  END IF;
  PERFORM "${schema}".add_to_audit(
    actor, act, operation_id, k, COALESCE(lives, false) AND result = 'done', CASE result WHEN 'done' THEN 1 ELSE 0 END, result, reason);
  RETURN result;
END;
$$;

-- Deletes one batch of expired rows, and returns their number. The last batch of a sweep, which is smaller than asked for or empty, adds
-- the only row of the sweep to the audit, unless the sweep has deleted nothing. swept_before is the number that its earlier batches
-- have deleted.
CREATE FUNCTION "${schema}".operator_sweep(
    batch integer, swept_before bigint, actor "${schema}".act_text, reason "${schema}".act_text)
  RETURNS integer
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  size  CONSTANT integer := least(batch, 10000);
  swept integer := 0;
BEGIN
  IF size > 0 THEN
    swept := "${schema}".sweep_expired(size);
  END IF;
  IF (swept < size OR size <= 0) AND swept_before + swept > 0 THEN
    INSERT INTO "${schema}".idempotency_audit (actor, act, deleted, result, reason)
    VALUES (actor, 'sweep', least(swept_before + swept, 2147483647), 'done', reason);
  END IF;
  RETURN swept;
END;
$$;

-- Contents are read in two transactions. The first adds the row to the audit, and the second returns the contents, once that row is
-- committed. In one transaction, a rollback would delete the row after the contents were read.
CREATE FUNCTION "${schema}".operator_request_contents(
    operation_id uuid, actor "${schema}".act_text, reason "${schema}".act_text, OUT request bigint, OUT result text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  k record;
BEGIN
  PERFORM "${schema}".see_all_rows();
  SELECT * INTO k FROM "${schema}".idempotency_keys AS r WHERE r.id = operation_id;
  PERFORM set_config('idempotency.operator', 'off', true);
  result := CASE WHEN k.id IS NULL THEN 'not_found' WHEN k.completed IS NULL THEN 'not_recorded' ELSE 'done' END;
  request := "${schema}".add_to_audit(actor, 'read_contents', operation_id, k, false, 0, result, reason);
END;
$$;

-- The contents that the same role has requested within the last minute.
CREATE FUNCTION "${schema}".operator_contents(request bigint)
  RETURNS TABLE (response_bytes bytea, status_bytes bytea)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
BEGIN
  PERFORM "${schema}".see_all_rows();
  RETURN QUERY
    SELECT k.response_bytes, k.status_bytes
      FROM "${schema}".idempotency_audit AS a
      JOIN "${schema}".idempotency_keys AS k ON k.id = a.operation_id AND k.attempt = a.attempt
     WHERE a.id = request
       AND a.act = 'read_contents'
       AND a.result = 'done'
       AND a.role = session_user
       AND a.at > clock_timestamp() - interval '1 minute'
       AND a.transaction IS DISTINCT FROM pg_current_xact_id_if_assigned()
       AND k.completed IS NOT NULL;
  PERFORM set_config('idempotency.operator', 'off', true);
END;
$$;

-- Erases one batch of the rows of a user, of a tenant, or of a project of a tenant: examines 10,000 rows in the order of their ids, from
-- the given id on; only rows of the user or the tenant, if add_operation_index or add_tenant_index has made an index of them.
-- Reservations whose owner lives, and rows that a transaction has locked, are counted as running and stay. The audit gets a row without
-- the user, the keys and the ids. upto is null once all rows were examined.
CREATE FUNCTION "${schema}".operator_erase(
    of_user uuid, of_tenant text, of_project text, actor "${schema}".act_text, reason "${schema}".act_text, dry_run boolean,
    continued uuid,
    OUT records integer, OUT reservations integer, OUT running integer, OUT upto uuid)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
DECLARE
  most     CONSTANT integer := 10000;
  whose    CONSTANT text := CASE
    WHEN of_user IS NOT NULL THEN 'r.user_uuid = $1'
    ELSE 'r.tenant <> '''' AND r.tenant = $2 AND ($3 IS NULL OR r.project = $3)'
  END;
  examined integer;
  theirs   uuid[];
  k        record;
BEGIN
  IF num_nonnulls(of_user, of_tenant) <> 1 OR of_tenant = '' THEN
    RAISE EXCEPTION 'the records of one user or of one tenant are erased' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM "${schema}".see_all_rows();
  EXECUTE format(
    'SELECT count(*), (array_agg(r.id ORDER BY r.id DESC))[1], array_agg(r.id) FILTER (WHERE %s)'
    '  FROM (SELECT *'
    '          FROM "${schema}".idempotency_keys AS r'
    '         WHERE r.id > COALESCE($4, ''00000000-0000-0000-0000-000000000000'') AND %s'
    '         ORDER BY r.id'
    '         LIMIT $5) AS r',
    whose,
    CASE
      WHEN to_regclass('"${schema}".idempotency_keys_' || CASE WHEN of_user IS NULL THEN 'tenants' ELSE 'operations' END) IS NOT NULL
      THEN whose
      ELSE 'true'
    END)
    INTO examined, upto, theirs
    USING of_user, of_tenant, of_project, continued, most;
  IF examined < most THEN
    upto := NULL;
  END IF;
  records := 0;
  reservations := 0;
  running := cardinality(COALESCE(theirs, '{}'));
  FOR k IN
    EXECUTE 'SELECT r.*, "${schema}".state_of(r) AS state FROM "${schema}".idempotency_keys AS r WHERE r.id = ANY ($1)'
            || CASE WHEN dry_run THEN '' ELSE ' FOR UPDATE SKIP LOCKED' END
      USING theirs
  LOOP
    CONTINUE WHEN k.state = 'running';
    running := running - 1;
    records := records + CASE WHEN k.completed IS NULL THEN 0 ELSE 1 END;
    reservations := reservations + CASE WHEN k.completed IS NULL THEN 1 ELSE 0 END;
    CONTINUE WHEN dry_run;
    DELETE FROM "${schema}".idempotency_keys AS r
     WHERE r.id = k.id AND r.idempotency_key = k.idempotency_key AND r.user_uuid = k.user_uuid;
    IF k.completed IS NULL THEN
      PERFORM "${schema}".wake(k);
    END IF;
  END LOOP;
  PERFORM set_config('idempotency.operator', 'off', true);
  IF NOT dry_run AND records + reservations > 0 THEN
    INSERT INTO "${schema}".idempotency_audit (actor, act, erased_hash, deleted, result, reason)
    VALUES (actor, 'erase', "${schema}".keyed_hash(ARRAY[of_user::text, of_tenant, of_project]::text), records + reservations, 'done', reason);
  END IF;
END;
$$;

-- The newest acts, before the given one. A null argument does not restrict. of_user finds the erasures of the user's records too, and
-- of_tenant, with of_project, those of the tenant's or project's.
CREATE FUNCTION "${schema}".operator_audit(
    of_operation uuid, of_key text, of_tenant text, of_project text, of_user uuid, of_actor text, of_act text,
    since timestamptz, until timestamptz, before bigint, page integer)
  RETURNS SETOF "${schema}".idempotency_audit
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '2s'
AS $$
BEGIN
  RETURN QUERY EXECUTE
    'SELECT a.*'
    '  FROM "${schema}".idempotency_audit AS a'
    ' WHERE ($1 IS NULL OR a.operation_id = $1)'
    '   AND ($2 IS NULL OR a.key_hash = $2)'
    '   AND ($3 IS NULL OR a.tenant = $3 OR a.erased_hash = $4)'
    '   AND ($13 IS NULL OR a.project = $13 OR a.erased_hash = $4)'
    '   AND ($5 IS NULL OR a.user_id = $5 OR a.erased_hash = $6)'
    '   AND ($7 IS NULL OR a.actor = $7)'
    '   AND ($8 IS NULL OR a.act = $8)'
    '   AND ($9 IS NULL OR a.at >= $9)'
    '   AND ($10 IS NULL OR a.at < $10)'
    '   AND ($11 IS NULL OR a.id < $11)'
    ' ORDER BY a.id DESC'
    ' LIMIT $12'
    USING of_operation, "${schema}".keyed_hash(of_key), of_tenant, "${schema}".keyed_hash(ARRAY[NULL, of_tenant, of_project]::text),
          of_user, "${schema}".keyed_hash(ARRAY[of_user::text, NULL, NULL]::text), of_actor, of_act, since, until, before, page, of_project;
END;
$$;

-- Lets a role find, list, free, forget and erase operations, sweep, and read statistics and the audit.
CREATE FUNCTION "${schema}".grant_operator_to(operator_role name) RETURNS void
  LANGUAGE plpgsql
AS $$
BEGIN
  EXECUTE format(
    'GRANT USAGE ON SCHEMA "${schema}" TO %1$I;'
    'GRANT EXECUTE ON FUNCTION "${schema}".current_user_id, "${schema}".current_user_ids, "${schema}".operator_find, "${schema}".operator_is_running,'
    ' "${schema}".operator_transactions, "${schema}".operator_procedures, "${schema}".operator_delete, "${schema}".operator_erase, "${schema}".operator_sweep,'
    ' "${schema}".operator_audit, "${schema}".statistics TO %1$I',
    operator_role);
END;
$$;

-- Lets a role read recorded answers.
CREATE FUNCTION "${schema}".grant_contents_to(operator_role name) RETURNS void
  LANGUAGE plpgsql
AS $$
BEGIN
  EXECUTE format(
    'GRANT USAGE ON SCHEMA "${schema}" TO %1$I;'
    'GRANT EXECUTE ON FUNCTION "${schema}".operator_request_contents, "${schema}".operator_contents TO %1$I',
    operator_role);
END;
$$;

SELECT "${schema}".keep_for_owner(
  'idempotency_audit', 'idempotency_audit_id_seq', 'idempotency_salt', 'keyed_hash', 'refuse_change_of_audit', 'state_of', 'lock_of',
  'see_all_rows', 'keys_of', 'transactions_of', 'operator_find', 'operator_is_running', 'operator_transactions', 'operator_procedures',
  'add_to_audit', 'wake', 'operator_delete', 'operator_sweep', 'operator_request_contents', 'operator_contents', 'operator_erase',
  'operator_audit', 'grant_operator_to', 'grant_contents_to');

UPDATE "${schema}".idempotency_facts SET value = '3' WHERE name = 'version';
