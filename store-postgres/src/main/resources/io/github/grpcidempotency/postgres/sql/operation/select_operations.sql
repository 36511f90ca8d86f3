SELECT ${caller}, ${lock_timeout}, ${statement_timeout};

SELECT k.id,
       k.idempotency_key,
       k.procedure,
       k.request_hash,
       k.hash_version,
       k.attempt,
       k.response_bytes,
       k.status_bytes,
       k.outcome_unknown,
       k.lease_expires,
       k.completed IS NOT NULL AS ended,
       k.expires,
       k.trace,
       now() AS read,
       ${resource} AS resource_id,
       k.names_resource,
       NULL::text[] AS outbox_status,
       k.created,
       k.completed
  FROM "${schema}".idempotency_keys AS k
 WHERE k.user_uuid = CAST(:user AS uuid)
   AND k.tenant = :tenant
   AND k.project = :project
   AND k.procedure = ANY (:procedures)
   AND (k.expires > now() OR (k.completed IS NULL AND k.lease_expires > now()))
   AND ${which}
