SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${generic_plans};

UPDATE ${schema}.idempotency_keys AS k
   SET lease_expires = clock_timestamp() + :lease_millis * interval '1 millisecond'
 WHERE k.id = :id
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
   AND k.attempt = :attempt
   AND k.completed IS NULL
   AND k.lease_expires > clock_timestamp()
RETURNING k.attempt, ${time_line} AS time_line
