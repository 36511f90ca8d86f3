WITH taken AS (
  SELECT key
    FROM ${intents}
   WHERE due <= ${now}
     AND (target, method) IN (VALUES ${routes})
   ORDER BY due
   LIMIT ?
   ${skip_locked}
)
UPDATE ${intents}
   SET due = ${in_ms},
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
          ${age_ms} AS age_ms,
          answer,
          fence
