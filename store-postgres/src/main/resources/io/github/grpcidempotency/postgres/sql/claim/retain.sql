SELECT ${caller}, ${lock_timeout}, ${generic_plans};

UPDATE "${schema}".idempotency_keys AS k
   SET expires = now() + :retention_millis * interval '1 millisecond',
       retained = now()
 WHERE k.id = :id
   AND ${same_key}
   AND k.completed IS NOT NULL
   AND k.expires > now()
   AND k.expires < now() + :retention_millis * interval '0.9 millisecond'
RETURNING k.expires
