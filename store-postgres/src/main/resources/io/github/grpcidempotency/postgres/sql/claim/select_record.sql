-- The record's columns have names that outbox queries must not use. So an alias in the query cannot hide
-- a column of the record, and a misspelled column in the query is an error.
SELECT idempotency_record_id AS id,
       idempotency_record_procedure AS procedure,
       idempotency_record_request_hash AS request_hash,
       idempotency_record_hash_version AS hash_version,
       idempotency_record_attempt AS attempt,
       idempotency_record_response_bytes AS response_bytes,
       idempotency_record_status_bytes AS status_bytes,
       idempotency_record_outcome_unknown AS outcome_unknown,
       idempotency_record_lease_expires AS lease_expires,
       idempotency_record_completed IS NOT NULL AS ended,
       idempotency_record_expires AS expires,
       idempotency_record_trace AS trace,
       now() AS read,
       idempotency_record_resource AS resource_id,
       idempotency_record_names_resource AS names_resource,
       CASE WHEN idempotency_record_completed IS NOT NULL
                  AND idempotency_record_status_bytes IS NULL THEN ${status} END AS outbox_status
  FROM (
    SELECT k.id AS idempotency_record_id,
           k.procedure AS idempotency_record_procedure,
           k.request_hash AS idempotency_record_request_hash,
           k.hash_version AS idempotency_record_hash_version,
           k.attempt AS idempotency_record_attempt,
           k.response_bytes AS idempotency_record_response_bytes,
           k.status_bytes AS idempotency_record_status_bytes,
           k.outcome_unknown AS idempotency_record_outcome_unknown,
           k.lease_expires AS idempotency_record_lease_expires,
           k.completed AS idempotency_record_completed,
           k.expires AS idempotency_record_expires,
           k.trace AS idempotency_record_trace,
           k.names_resource AS idempotency_record_names_resource,
           ${resource} AS idempotency_record_resource
      FROM "${schema}".idempotency_keys AS k
     WHERE ${same_key}
     LIMIT 1 -- makes the generic plan of a partitioned table as cheap, in the planner's estimate, as it is
  ) AS idempotency_record
