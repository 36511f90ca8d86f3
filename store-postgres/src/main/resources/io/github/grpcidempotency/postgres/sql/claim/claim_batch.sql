SELECT set_config('app.current_user_ids', :users, true), ${short_lock_timeout}, ${generic_plans},
       ${indexed_plans};

INSERT INTO "${schema}".idempotency_keys
  (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version, lease_expires, expires,
   server, trace)
SELECT c.id, c.idempotency_key, c.user_uuid, c.tenant, c.project, c.procedure, c.request_hash,
       c.hash_version,
       now() + :lease_millis * interval '1 millisecond',
       now() + c.retention_millis * interval '1 millisecond',
       :server, c.trace
  FROM unnest(CAST(:ids AS uuid[]), CAST(:keys AS text[]), CAST(:user_uuids AS uuid[]),
              CAST(:tenants AS text[]), CAST(:projects AS text[]),
              CAST(:procedures AS text[]), CAST(:hashes AS bytea[]), CAST(:hash_versions AS integer[]),
              CAST(:retentions AS bigint[]), CAST(:traces AS bytea[]), CAST(:locks AS bigint[]))
    AS c (id, idempotency_key, user_uuid, tenant, project, procedure, request_hash, hash_version,
          retention_millis, trace, lock_id)
 WHERE (
   -- An insert over an existing row would wait for a transaction that is about to change the row.
   SELECT true
     FROM "${schema}".idempotency_keys AS k
    WHERE k.idempotency_key = c.idempotency_key
      AND k.user_uuid = c.user_uuid
      AND k.tenant = c.tenant
      AND k.project = c.project
    LIMIT 1) IS NULL
   AND pg_try_advisory_xact_lock_shared(c.lock_id) -- as in claim.sql
 -- Servers that insert the same keys wait for each other. All use one order, so they cannot deadlock.
 ORDER BY c.idempotency_key COLLATE "C", c.user_uuid, c.tenant COLLATE "C", c.project COLLATE "C"
ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO NOTHING
RETURNING id, expires, (SELECT ${time_line}) AS time_line
