WITH taken AS (
  SELECT key
    FROM idempotency_client.intents
   WHERE due <= now()
     AND (target, method) IN (VALUES ${routes})
   ORDER BY due
   LIMIT ?
   FOR UPDATE SKIP LOCKED
)
UPDATE idempotency_client.intents
   SET due = now() + ? * interval '1 millisecond',
       attempts = attempts + 1,
       sent = sent + 1,
       fence = fence + 1
 WHERE key IN (SELECT key FROM taken)
RETURNING key,
          target,
          method,
          request,
          attempts,
          sent > 1 AS sent_before,
          (extract(epoch FROM now() - created) * 1000)::bigint AS age_ms,
          answer,
          fence
