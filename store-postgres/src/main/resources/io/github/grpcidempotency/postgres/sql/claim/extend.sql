SELECT ${caller}, ${lock_timeout}, ${generic_plans};

UPDATE "${schema}".idempotency_keys AS k
   SET lease_expires = clock_timestamp() + :lease_millis * interval '1 millisecond'
 WHERE k.id = :id
   AND ${same_key}
   AND k.attempt = :attempt
   AND k.completed IS NULL
   AND k.lease_expires > clock_timestamp()
RETURNING k.attempt, ${time_line} AS time_line
