SELECT EXISTS (
  SELECT 1
    FROM idempotency_client.intents
   WHERE (target, method) IN (VALUES ${routes}))
