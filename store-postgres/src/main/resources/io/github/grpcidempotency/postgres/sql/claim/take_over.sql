SELECT ${caller}, ${lock_timeout}, ${generic_plans};

WITH abandoned AS (
  SELECT k.server
    FROM "${schema}".idempotency_keys AS k
   WHERE k.id = :id
     AND ${same_key}
     AND k.attempt = :attempt
     AND k.procedure = :procedure
     AND k.hash_version = :hash_version
     AND k.request_hash = :hash
     AND k.completed IS NULL
     AND k.lease_expires <= now()
     FOR UPDATE SKIP LOCKED -- a transaction that is about to complete the row
)
UPDATE "${schema}".idempotency_keys AS k
   SET attempt = k.attempt + 1,
       outcome_unknown = false,
       lease_expires = now() + :lease_millis * interval '1 millisecond',
       former_servers = array_append(k.former_servers, k.server),
       taken_over = array_append(k.taken_over, now()),
       server = :server,
       trace = CAST(:trace AS bytea)
  FROM abandoned
 WHERE k.id = :id
   AND ${same_key}
RETURNING k.attempt, ${time_line} AS time_line, abandoned.server AS taken_over_from
