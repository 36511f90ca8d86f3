SELECT ${caller}, ${lock_timeout}, ${generic_plans};

UPDATE "${schema}".idempotency_keys AS k
   SET outcome_unknown = true
 WHERE k.id = :id
   AND ${same_key}
   AND k.attempt = :attempt
   AND k.completed IS NULL
RETURNING k.id
