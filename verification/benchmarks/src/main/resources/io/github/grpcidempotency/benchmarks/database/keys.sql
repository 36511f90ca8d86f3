-- Records as calls would have made them, a millisecond after one another. All have expired, and each has its project.
WITH numbered AS (
  SELECT pg_temp.uuid_v7(:begun + n) AS id,
         pg_temp.uuid_v7(:begun + n) AS key,
         CAST(:user AS uuid) AS user_id,
         to_timestamp((:begun + n) / 1000.0) AS at
    FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS n
), project AS (
  INSERT INTO app.project (id, user_id, name)
  SELECT id, user_id, 'a project of an ordinary name' FROM numbered
)
INSERT INTO idempotency.idempotency_keys
  (id, idempotency_key, user_id, procedure, request_hash, hash_version, response_bytes, project_id, created,
   completed, expires)
SELECT id, key, user_id, :procedure, :hash, :hash_version, :response, id, at - interval '1 day',
       at - interval '1 day', at
  FROM numbered
