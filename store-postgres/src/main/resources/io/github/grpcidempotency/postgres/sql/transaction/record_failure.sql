-- Refuses the record if another call has the key.
SELECT ${caller}, ${lock_timeout}, ${generic_plans},
       CASE WHEN NOT pg_try_advisory_xact_lock(:lock) THEN "${schema}".refuse_claim() END;
${wake}

-- Deletes again the row that the rolled back transaction had deleted, if it is unchanged since then.
DELETE FROM "${schema}".idempotency_keys AS k
 WHERE k.id = :cleared
   AND ${same_key}
   AND (k.lease_expires <= now() OR k.completed IS NOT NULL)
   AND (k.expires <= now() OR k.completed IS NULL);

INSERT INTO "${schema}".idempotency_keys
  (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version,
   status_bytes, completed, expires, trace)
VALUES
  (:id, :key, CAST(:user AS uuid), :tenant, :project, :procedure, :hash, :hash_version,
   :status, now(), now() + :retention_millis * interval '1 millisecond',
   CAST(:trace AS bytea))
ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO NOTHING
RETURNING id
