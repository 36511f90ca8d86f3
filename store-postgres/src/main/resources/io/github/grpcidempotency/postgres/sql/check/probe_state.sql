SELECT set_config('app.current_user_id', :user, true);

SELECT k.lease_expires > k.created + :lease_millis * interval '1 millisecond' AS renewed,
       EXISTS (SELECT FROM ${schema}.idempotency_waits AS w WHERE w.lock_id = :lock) AS awaited
  FROM ${schema}.idempotency_keys AS k
 WHERE k.id = :id
   AND k.idempotency_key = :key
   AND k.user_id = CAST(:user AS uuid)
