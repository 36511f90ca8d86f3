SELECT ${caller}, ${lock_timeout}, ${generic_plans};

DELETE FROM "${schema}".idempotency_keys AS k
 WHERE ${same_key}
   AND k.expires <= now()
   AND (k.completed IS NOT NULL OR k.lease_expires <= now())
   AND pg_try_advisory_xact_lock_shared(:lock); -- as in claim.sql

INSERT INTO "${schema}".idempotency_keys
  (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version, lease_expires, expires,
   server, trace)
SELECT :id, :key, CAST(:user AS uuid), :tenant, :project, :procedure, :hash, :hash_version,
       now() + :lease_millis * interval '1 millisecond',
       now() + :retention_millis * interval '1 millisecond',
       :server, CAST(:trace AS bytea)
 WHERE pg_try_advisory_xact_lock_shared(:lock)
ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO NOTHING;

SELECT r.*, ${time_line} AS time_line, pg_try_advisory_xact_lock_shared(:lock) AS unlocked
  FROM (
    ${select_record}
  ) AS r
