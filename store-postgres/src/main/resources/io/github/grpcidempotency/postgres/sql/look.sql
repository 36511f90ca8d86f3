SELECT k.id,
       k.procedure,
       k.request_hash,
       k.hash_version,
       k.attempt,
       k.expires,
       k.response_bytes,
       k.status_bytes,
       k.completed IS NOT NULL AS ended,
       k.expires <= now() AND (k.completed IS NOT NULL OR k.lease_expires <= now()) AS expired,
       CEIL(COALESCE(EXTRACT(EPOCH FROM k.lease_expires - now()) * 1000, 0))::bigint AS lease_left_millis,
       ${resource} AS resource_id,
       CASE WHEN k.response_bytes IS NOT NULL THEN (${status}) END AS outbox_status
  FROM ${schema}.idempotency_keys AS k
 WHERE k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
