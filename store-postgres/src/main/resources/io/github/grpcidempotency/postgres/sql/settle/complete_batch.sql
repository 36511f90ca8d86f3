SELECT set_config('app.current_user_ids', :users, true), ${short_lock_timeout}, ${generic_plans},
       ${indexed_plans};${wake_batch}

WITH own AS (
  SELECT k.id, k.idempotency_key, k.user_uuid, c.response, c.status, c.resource_id
    FROM unnest(CAST(:ids AS uuid[]), CAST(:keys AS text[]), CAST(:user_uuids AS uuid[]),
                CAST(:attempts AS integer[]), CAST(:responses AS bytea[]), CAST(:statuses AS bytea[]),
                CAST(:resource_ids AS text[]), CAST(:time_lines AS text[]))
      AS c (id, idempotency_key, user_uuid, attempt, response, status, resource_id, time_line)
    JOIN "${schema}".idempotency_keys AS k
      ON k.id = c.id
     AND k.idempotency_key = c.idempotency_key
     AND k.user_uuid = c.user_uuid
   WHERE k.attempt = c.attempt
     AND k.completed IS NULL
     ${same_time_line_batch}
     FOR NO KEY UPDATE OF k SKIP LOCKED -- so that no row delays the others, and no servers deadlock
)
UPDATE "${schema}".idempotency_keys AS k
   SET response_bytes = own.response,
       status_bytes = own.status,
       ${resource}
       outcome_unknown = false,
       completed = now()
  FROM own
 WHERE k.id = own.id
   AND k.idempotency_key = own.idempotency_key
   AND k.user_uuid = own.user_uuid
RETURNING k.id
