SELECT ${caller}, ${lock_timeout}, ${generic_plans};${wake}

DELETE FROM "${schema}".idempotency_keys AS k
 WHERE k.id = :id
   AND ${same_key}
   AND k.attempt = :attempt
   AND k.completed IS NULL
RETURNING k.id
