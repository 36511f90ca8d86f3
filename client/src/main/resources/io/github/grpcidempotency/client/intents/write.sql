INSERT INTO ${intents} (key, target, method, request)
VALUES (?, ?, ?, ?)
ON CONFLICT (key) DO NOTHING
