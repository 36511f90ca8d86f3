INSERT INTO ${schema}.idempotency_waits (lock_id)
SELECT unnest(:locks)
ON CONFLICT (lock_id) DO NOTHING
