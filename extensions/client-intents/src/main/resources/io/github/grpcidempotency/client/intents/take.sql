WITH taken AS (
  SELECT due.key
    FROM (VALUES ${shares}) AS share (target, most)
   CROSS JOIN LATERAL (
     SELECT key
       FROM idempotency_client.intents AS intent
      WHERE intent.target = share.target
        AND (intent.target, intent.method) IN (VALUES ${routes})
        AND intent.due <= now()
      ORDER BY intent.due
      LIMIT share.most
      FOR UPDATE SKIP LOCKED
   ) AS due
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
