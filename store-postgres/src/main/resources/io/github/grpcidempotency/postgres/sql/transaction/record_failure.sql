SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${generic_plans};${wake}

-- Deletes again the row that the rolled back transaction had deleted, if it is unchanged since then.
DELETE FROM ${schema}.idempotency_keys AS k
 WHERE k.id = :cleared
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
   AND (k.lease_expires <= now() OR k.completed IS NOT NULL)
   AND (k.expires <= now() OR k.completed IS NULL);

INSERT INTO ${schema}.idempotency_keys
  (id, idempotency_key, user_id, procedure, request_hash, hash_version,
   status_bytes, completed, expires, trace)
VALUES
  (:id, :key, CAST(:user AS uuid), :procedure, :hash, :hash_version,
   :status, now(), now() + :retention_millis * interval '1 millisecond',
   CAST(:trace AS bytea))
ON CONFLICT (idempotency_key, user_id) DO NOTHING
RETURNING id
