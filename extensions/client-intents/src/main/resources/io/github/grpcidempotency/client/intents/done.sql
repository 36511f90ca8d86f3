DELETE FROM idempotency_client.intents
 WHERE key = ?
   AND fence = ?
