SELECT ${caller}, ${lock_timeout};${expired}

INSERT INTO "${schema}".idempotency_keys
  (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version, lease_expires, expires,
   server, trace)
SELECT :id, :key, CAST(:user AS uuid), :tenant, :project, :procedure, :hash, :hash_version,
       now() + :lease_millis * interval '1 millisecond',
       now() + :retention_millis * interval '1 millisecond',
       :server, CAST(:trace AS bytea)
 WHERE NOT EXISTS (
   -- An insert over an existing row would wait for a transaction that is about to change the row.
   SELECT
     FROM "${schema}".idempotency_keys AS k
    WHERE ${same_key})
   -- A transactional call of the same operation holds this lock. Reserved calls share it.
   AND pg_try_advisory_xact_lock_shared(:lock)
ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO NOTHING
RETURNING id, expires, ${time_line} AS time_line
