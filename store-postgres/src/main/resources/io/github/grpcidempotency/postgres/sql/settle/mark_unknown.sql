SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${generic_plans};

UPDATE ${schema}.idempotency_keys AS k
   SET outcome_unknown = true
 WHERE k.id = :id
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
   AND k.attempt = :attempt
   AND k.completed IS NULL
RETURNING k.id
