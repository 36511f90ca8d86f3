SELECT set_config('app.current_user_ids', :users, true), ${short_lock_timeout}, ${generic_plans},
       ${indexed_plans};${wake_batch}

WITH own AS (
  SELECT k.id, k.idempotency_key, k.user_uuid
    FROM unnest(CAST(:ids AS uuid[]), CAST(:keys AS text[]), CAST(:user_uuids AS uuid[]),
                CAST(:attempts AS integer[]))
      AS c (id, idempotency_key, user_uuid, attempt)
    JOIN "${schema}".idempotency_keys AS k
      ON k.id = c.id
     AND k.idempotency_key = c.idempotency_key
     AND k.user_uuid = c.user_uuid
   WHERE k.attempt = c.attempt
     AND k.completed IS NULL
     FOR UPDATE OF k SKIP LOCKED -- so that no row delays the others, and no servers deadlock
)
DELETE FROM "${schema}".idempotency_keys AS k
 USING own
 WHERE k.id = own.id
   AND k.idempotency_key = own.idempotency_key
   AND k.user_uuid = own.user_uuid
RETURNING k.id
