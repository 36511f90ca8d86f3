${begin}

SELECT set_config('app.current_user_id', :user, true),
       CASE
         WHEN current_setting('transaction_read_only')::boolean
              OR NOT pg_try_advisory_xact_lock(:lock)
         THEN ${schema}.refuse_claim()
       END,
       now() + :retention_millis * interval '1 millisecond' AS expires;

-- A statement of its own, which sees what was committed before the lock was won. What the row means
-- is for claim.sql to find out.
SELECT ${schema}.refuse_claim()
  FROM ${schema}.idempotency_keys AS k
 WHERE k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
