SELECT set_config('app.current_user_id', :user, true), ${lock_timeout};

DELETE FROM ${schema}.idempotency_keys AS k
 WHERE k.id = :id
   AND k.user_id = CAST(:user AS uuid)
   AND CASE WHEN strpos(k.idempotency_key, ':') = 0 THEN ''
            ELSE split_part(k.idempotency_key, ':', 1) END = :namespace
   AND k.procedure = ANY (:procedures)
   AND k.completed IS NOT NULL
RETURNING k.id
