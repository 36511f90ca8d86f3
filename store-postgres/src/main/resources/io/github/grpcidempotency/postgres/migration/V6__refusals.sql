-- What a flush calls to end itself with an error, so that the statements after it do not run. Their messages say nothing of
-- anybody; the codes say why. They are for everybody, so that they need no grant: all that they can do is fail. Servers of the
-- previous version do not know them.

-- Keeps a handler's first statement from running: somebody has the key, or a row stands under it, or nothing can be written.
CREATE FUNCTION ${schema}.refuse_claim() RETURNS integer
  LANGUAGE plpgsql VOLATILE -- or else the planner calls it
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'the key is not free'
    USING ERRCODE = 'IK001', HINT = 'This is no fault: a duplicate was stopped before its first statement.';
END;
$$;

-- Keeps a transaction from being committed.
CREATE FUNCTION ${schema}.refuse_commit(code text) RETURNS void
  LANGUAGE plpgsql VOLATILE
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'this transaction may not be committed with the record of its call'
    USING ERRCODE = code;
END;
$$;

-- A database may have been set to give new functions to nobody.
GRANT EXECUTE ON FUNCTION ${schema}.refuse_claim() TO PUBLIC;
GRANT EXECUTE ON FUNCTION ${schema}.refuse_commit(text) TO PUBLIC;

-- Of V2__maintenance.sql. Which of these operations still run: by a reservation whose lease lives and whose outcome is not
-- unknown, or by the advisory lock of a transaction. Returns the locks of those that do.
CREATE OR REPLACE FUNCTION ${schema}.in_flight(keys text[], users uuid[], locks bigint[])
  RETURNS SETOF bigint
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
  WITH watched AS (
    SELECT * FROM unnest(keys, users, locks) AS w (idempotency_key, user_id, lock_id)
  ), held AS (
    SELECT (l.classid::bigint << 32) | l.objid::bigint AS lock_id
      FROM pg_locks AS l
     WHERE l.locktype = 'advisory'
       AND l.objsubid = 1
       AND l.granted
       AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
  )
  SELECT w.lock_id
    FROM watched AS w
    JOIN ${schema}.idempotency_keys AS k USING (idempotency_key, user_id)
   WHERE k.completed IS NULL
     AND k.lease_expires > now()
     AND NOT k.outcome_unknown
  UNION
  SELECT w.lock_id FROM watched AS w JOIN held USING (lock_id);
$$;

-- Of V2__maintenance.sql. It waits for a locked row no longer than this.
ALTER FUNCTION ${schema}.renew_leases(uuid[], integer[], interval) SET lock_timeout = '2s';

-- Whether the answer of a record named a resource: without a reference, that resource is gone.
ALTER TABLE ${schema}.idempotency_keys ADD COLUMN names_resource boolean NOT NULL DEFAULT false;
