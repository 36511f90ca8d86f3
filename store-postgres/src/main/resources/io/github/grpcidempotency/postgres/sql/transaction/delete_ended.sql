DELETE FROM ${schema}.idempotency_keys AS k
 WHERE k.id = :id
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
   AND (k.lease_expires <= now() OR k.completed IS NOT NULL)
   AND (k.expires <= now() OR k.completed IS NULL)
RETURNING k.id
