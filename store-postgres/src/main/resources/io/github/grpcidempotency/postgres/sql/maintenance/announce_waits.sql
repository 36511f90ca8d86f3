SELECT ${lock_timeout};

INSERT INTO "${schema}".idempotency_waits (lock_id)
SELECT awaited.lock_id
  FROM unnest(CAST(:locks AS bigint[])) AS awaited (lock_id)
 WHERE NOT EXISTS (
   -- An insert over an existing row would wait for a transaction that is about to delete the row.
   SELECT FROM "${schema}".idempotency_waits AS w WHERE w.lock_id = awaited.lock_id)
 -- Servers that insert the same rows wait for each other. All use one order, so they cannot deadlock.
 ORDER BY awaited.lock_id
ON CONFLICT (lock_id) DO NOTHING
