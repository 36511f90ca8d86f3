SELECT set_config('app.current_user_ids', :users, true), ${short_lock_timeout}, ${generic_plans},
       ${indexed_plans};${wake}

WITH own AS (
  SELECT k.id, k.idempotency_key, k.user_id
    FROM unnest(CAST(:ids AS uuid[]), CAST(:keys AS text[]), CAST(:user_ids AS uuid[]),
                CAST(:attempts AS integer[]))
      AS c (id, idempotency_key, user_id, attempt)
    JOIN ${schema}.idempotency_keys AS k
      ON k.id = c.id
     AND k.idempotency_key = c.idempotency_key
     AND k.user_id = c.user_id
   WHERE k.attempt = c.attempt
     AND k.completed IS NULL
     FOR UPDATE OF k SKIP LOCKED -- so that no row delays the others, and no servers deadlock
)
DELETE FROM ${schema}.idempotency_keys AS k
 USING own
 WHERE k.id = own.id
   AND k.idempotency_key = own.idempotency_key
   AND k.user_id = own.user_id
RETURNING k.id
