SELECT ${caller};

SELECT k.lease_expires > k.created + :lease_millis * interval '1 millisecond' AS renewed,
       EXISTS (SELECT FROM "${schema}".idempotency_waits AS w WHERE w.lock_id = :lock) AS awaited
  FROM "${schema}".idempotency_keys AS k
 WHERE k.id = :id
   AND ${same_key}
