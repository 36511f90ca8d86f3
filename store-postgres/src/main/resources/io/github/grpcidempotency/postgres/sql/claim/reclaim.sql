SELECT ${caller}, ${lock_timeout}, ${generic_plans}${durability};

DELETE FROM "${schema}".idempotency_keys AS k
 WHERE ${same_key}
   AND k.expires <= now()
   AND (k.completed IS NOT NULL OR k.lease_expires <= now());

INSERT INTO "${schema}".idempotency_keys
  (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version, lease_expires, expires,
   server, trace)
VALUES
  (:id, :key, CAST(:user AS uuid), :tenant, :project, :procedure, :hash, :hash_version,
   now() + :lease_millis * interval '1 millisecond',
   now() + :retention_millis * interval '1 millisecond',
   :server, CAST(:trace AS bytea))
ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO NOTHING;

SELECT r.*, ${time_line} AS time_line
  FROM (
    ${select_record}
  ) AS r
