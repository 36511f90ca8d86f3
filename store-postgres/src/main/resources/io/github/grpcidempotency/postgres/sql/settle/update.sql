UPDATE "${schema}".idempotency_keys AS k
   SET response_bytes = :response,
       status_bytes = :status,
       ${resource}
       outcome_unknown = false,
       completed = now()
 WHERE k.id = :id
   AND ${same_key}
   AND k.attempt = :attempt
   AND k.completed IS NULL
   ${same_time_line}
RETURNING k.id
