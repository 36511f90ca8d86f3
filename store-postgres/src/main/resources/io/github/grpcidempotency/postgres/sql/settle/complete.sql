SELECT set_config('app.current_user_id', :user, true),
       current_setting('transaction_isolation') AS isolation,
       pg_current_xact_id_if_assigned()::text AS transaction;${wake}${reference}

UPDATE ${schema}.idempotency_keys AS k
   SET response_bytes = :response,
       status_bytes = :status,
       ${resource}
       outcome_unknown = false,
       completed = now()
 WHERE k.id = :id
   AND k.user_id = CAST(:user AS uuid)
   AND k.attempt = :attempt
   AND k.completed IS NULL
RETURNING k.id
