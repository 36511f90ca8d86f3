
WITH awaited AS (
  DELETE FROM "${schema}".idempotency_waits AS w
   WHERE w.lock_id = ANY (CAST(:locks AS bigint[])) -- by the index, so in the same order on all servers
  RETURNING w.lock_id
)
SELECT pg_notify('${schema}', lock_id::text) FROM awaited;
