SELECT k.id,
       k.procedure,
       k.request_hash,
       k.hash_version,
       k.attempt,
       k.response_bytes,
       k.status_bytes,
       k.lease_expires,
       k.completed IS NOT NULL AS ended,
       k.expires,
       now() AS read,
       ${resource} AS resource_id,
       CASE WHEN k.response_bytes IS NOT NULL THEN (${status}) END AS outbox_status
  FROM ${schema}.idempotency_keys AS k
 WHERE k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
