DELETE FROM "${schema}".idempotency_keys AS k
 WHERE ${same_key}
   AND k.expires <= now()
   AND (k.completed IS NOT NULL OR k.lease_expires <= now())
   AND pg_try_advisory_xact_lock_shared(:lock); -- as in claim.sql
