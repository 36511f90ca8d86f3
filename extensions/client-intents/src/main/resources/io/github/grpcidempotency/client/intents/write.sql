INSERT INTO idempotency_client.intents (key, target, method, request)
VALUES (?, ?, ?, ?)
ON CONFLICT (key) DO NOTHING
