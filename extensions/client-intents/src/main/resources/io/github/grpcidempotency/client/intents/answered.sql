UPDATE idempotency_client.intents
   SET due = now() + ? * interval '1 millisecond',
       answer = ?
 WHERE key = ?
   AND fence = ?
