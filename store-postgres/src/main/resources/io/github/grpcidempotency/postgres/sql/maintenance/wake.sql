
WITH awaited AS (
  DELETE FROM "${schema}".idempotency_waits AS w WHERE w.lock_id = :lock RETURNING w.lock_id
)
SELECT pg_notify('${schema}', lock_id::text) FROM awaited;
