INSERT INTO ${schema}.idempotency_waits (lock_id)
SELECT awaited.lock_id
  FROM unnest(CAST(:locks AS bigint[])) AS awaited (lock_id)
 WHERE NOT EXISTS (
   -- To insert where a row stands would wait for a transaction that is about to delete it.
   SELECT FROM ${schema}.idempotency_waits AS w WHERE w.lock_id = awaited.lock_id)
 -- Servers that insert the same rows wait for each other, and in one order they never do so in a ring.
 ORDER BY awaited.lock_id
ON CONFLICT (lock_id) DO NOTHING
