SELECT ${record_lock_timeout}${use};
${wake}
INSERT INTO "${schema}".idempotency_keys
  (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version,
   response_bytes, ${column} names_resource, completed, expires, trace)
VALUES
  (:id, :key, CAST(:user AS uuid), :tenant, :project, :procedure, :hash, :hash_version,
   :response, ${value} CAST(:resource_id AS text) IS NOT NULL, now(), now() + :retention_millis * interval '1 millisecond',
   CAST(:trace AS bytea));
${reference}
${commit}
