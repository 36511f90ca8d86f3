${begin}

SELECT set_config('app.current_user_id', :user, true),
       now() + :retention_millis * interval '1 millisecond' AS expires;

-- A repeatable read or serializable transaction must lock the row before the lease is renewed. Other
-- transactions do not lock the row, so that the lease can be renewed.
SELECT k.id
  FROM ${schema}.idempotency_keys AS k
 WHERE k.id = :id
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
   AND k.attempt = :attempt
   AND k.completed IS NULL
   AND current_setting('transaction_isolation') NOT LIKE 'read %'
   FOR NO KEY UPDATE
