-- Records as calls would have made them, a millisecond after one another: those up to :expired have expired, the
-- others live for a week more. Each has its project.
WITH numbered AS (
  SELECT pg_temp.uuid_v7(:begun + n) AS id,
         CASE WHEN :random THEN gen_random_uuid() ELSE pg_temp.uuid_v7(:begun + n) END AS key,
         CAST(:user AS uuid) AS user_id,
         to_timestamp((:begun + n) / 1000.0) AS at,
         CASE WHEN n <= :expired THEN interval '0' ELSE interval '7 days' END AS lives
    FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS n
), project AS (
  INSERT INTO app.project (id, user_id, name)
  SELECT id, user_id, 'a project of an ordinary name' FROM numbered
)
INSERT INTO ${schema}.idempotency_keys
  (id, idempotency_key, user_id, procedure, request_hash, hash_version, response_bytes, project_id, created,
   completed, expires)
SELECT id, key, user_id, :procedure, :hash, :hash_version, :response, id, at - interval '1 day',
       at - interval '1 day', at + lives
  FROM numbered
