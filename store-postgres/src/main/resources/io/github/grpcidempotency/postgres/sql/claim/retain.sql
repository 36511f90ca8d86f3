SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${generic_plans};

UPDATE ${schema}.idempotency_keys AS k
   SET expires = now() + :retention_millis * interval '1 millisecond',
       retained = now()
 WHERE k.id = :id
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
   AND k.completed IS NOT NULL
   AND k.expires > now()
   AND k.expires < now() + :retention_millis * interval '0.9 millisecond'
RETURNING k.expires
