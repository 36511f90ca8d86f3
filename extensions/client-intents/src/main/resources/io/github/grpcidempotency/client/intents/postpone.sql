UPDATE idempotency_client.intents
   SET due = now() + ? * interval '1 millisecond',
       sent = CASE WHEN ? THEN 0 ELSE sent END,
       fence = fence + 1
 WHERE key = ?
   AND fence = ?
