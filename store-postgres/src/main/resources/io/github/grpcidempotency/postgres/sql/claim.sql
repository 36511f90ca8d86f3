SELECT set_config('app.current_user_id', :user, true)${durability};

INSERT INTO ${schema}.idempotency_keys
  (id, idempotency_key, user_id, procedure, request_hash, hash_version, lease_expires, expires)
VALUES
  (:id, :key, CAST(:user AS uuid), :procedure, :hash, :hash_version,
   now() + :lease_millis * interval '1 millisecond',
   now() + :retention_millis * interval '1 millisecond')
ON CONFLICT (idempotency_key, user_id) DO NOTHING;

${look}
