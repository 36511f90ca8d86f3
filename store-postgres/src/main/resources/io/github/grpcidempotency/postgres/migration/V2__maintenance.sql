-- What the application may do to rows of every user, and nothing else: no function returns anything
-- of a row but an id that its caller already knew. (Bodies are quoted because the JDBC driver does not
-- find the end of a BEGIN ATOMIC: pgjdbc issue 3259.)

-- Renews the leases of a whole server in one statement; returns those still owned.
CREATE FUNCTION ${schema}.renew_leases(ids uuid[], attempts integer[], lease interval)
  RETURNS SETOF uuid
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
  -- A row that its handler's own transaction has locked, to complete it, is left alone.
  WITH free AS (
    SELECT k.id
      FROM ${schema}.idempotency_keys AS k
      JOIN unnest(ids, attempts) AS owned (id, attempt)
        ON k.id = owned.id AND k.attempt = owned.attempt
     WHERE k.completed IS NULL
       FOR UPDATE OF k SKIP LOCKED
  ), renewed AS (
    UPDATE ${schema}.idempotency_keys AS k
       SET lease_expires = clock_timestamp() + lease
      FROM free
     WHERE k.id = free.id
  )
  SELECT k.id
    FROM ${schema}.idempotency_keys AS k
    JOIN unnest(ids, attempts) AS owned (id, attempt)
      ON k.id = owned.id AND k.attempt = owned.attempt
   WHERE k.completed IS NULL;
$$;

-- Which of these operations still run: by a reservation whose lease lives, or by the advisory lock of
-- a transaction. Returns the locks of those that do.
CREATE FUNCTION ${schema}.in_flight(keys text[], users uuid[], locks bigint[])
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
  UNION
  SELECT w.lock_id FROM watched AS w JOIN held USING (lock_id);
$$;

-- Deletes one batch of expired rows that nobody works on; returns how many. Rows that another
-- server's sweep has locked are left to it.
CREATE FUNCTION ${schema}.sweep_expired(batch integer)
  RETURNS integer
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
  -- By an array of ids, which the planner takes for short: joined with a batch whose size it does not
  -- know, it may read the whole table for each.
  WITH swept AS (
    DELETE FROM ${schema}.idempotency_keys AS k
     WHERE k.id = ANY (ARRAY(
       SELECT e.id
         FROM ${schema}.idempotency_keys AS e
        WHERE e.expires <= now()
          AND (e.completed IS NOT NULL OR e.lease_expires <= now())
        ORDER BY e.expires
        LIMIT batch
          FOR UPDATE SKIP LOCKED))
    RETURNING 1
  ), forgotten AS (
    DELETE FROM ${schema}.idempotency_waits AS w
     WHERE w.lock_id = ANY (ARRAY(
       SELECT old.lock_id
         FROM ${schema}.idempotency_waits AS old
        WHERE old.created < now() - interval '1 hour'
          FOR UPDATE SKIP LOCKED))
  )
  SELECT count(*)::integer FROM swept;
$$;

REVOKE ALL ON FUNCTION ${schema}.renew_leases(uuid[], integer[], interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.in_flight(text[], uuid[], bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.sweep_expired(integer) FROM PUBLIC;
