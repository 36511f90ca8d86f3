UPDATE idempotency_client.intents
   SET due = now() + ? * interval '1 millisecond'
 WHERE key = ?
   AND fence = ?
