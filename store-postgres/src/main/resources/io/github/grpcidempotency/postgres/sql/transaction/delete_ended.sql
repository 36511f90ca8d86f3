-- Skips a locked row, because the transaction that locked it is about to complete or delete it.
SELECT ${kept_lock_timeout};

WITH ended AS (
  SELECT k.id
    FROM "${schema}".idempotency_keys AS k
   WHERE k.id = :id
     AND ${same_key}
     AND (k.lease_expires <= now() OR k.completed IS NOT NULL)
     AND (k.expires <= now() OR k.completed IS NULL)
     FOR UPDATE SKIP LOCKED
)
DELETE FROM "${schema}".idempotency_keys AS k
 USING ended
 WHERE k.id = ended.id
   AND ${same_key}
RETURNING k.id;

SELECT ${restored_lock_timeout}
