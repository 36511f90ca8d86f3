-- What the application may do to rows of every user, and nothing else: neither function returns
-- anything of a row but the id that its caller already knew.

-- Renews the leases of a whole server in one statement; returns those still owned.
CREATE FUNCTION ${schema}.renew_leases(ids uuid[], attempts integer[], lease interval)
  RETURNS SETOF uuid
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  UPDATE ${schema}.idempotency_keys AS k
     SET lease_expires = clock_timestamp() + lease
    FROM unnest(ids, attempts) AS owned (id, attempt)
   WHERE k.id = owned.id
     AND k.attempt = owned.attempt
     AND k.completed IS NULL
  RETURNING k.id;
END;

-- Deletes one batch of expired rows that nobody works on; returns how many. Rows that another
-- server's sweep has locked are left to it.
CREATE FUNCTION ${schema}.sweep_expired(batch integer)
  RETURNS integer
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH expired AS (
    SELECT k.id
      FROM ${schema}.idempotency_keys AS k
     WHERE k.expires <= now()
       AND (k.completed IS NOT NULL OR k.lease_expires <= now())
     ORDER BY k.expires
     LIMIT batch
       FOR UPDATE SKIP LOCKED
  ), swept AS (
    DELETE FROM ${schema}.idempotency_keys AS k
     USING expired
     WHERE k.id = expired.id
    RETURNING 1
  )
  SELECT count(*)::integer FROM swept;
END;

REVOKE ALL ON FUNCTION ${schema}.renew_leases(uuid[], integer[], interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.sweep_expired(integer) FROM PUBLIC;
