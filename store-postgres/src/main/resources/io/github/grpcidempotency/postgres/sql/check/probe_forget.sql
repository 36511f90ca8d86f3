SELECT ${caller};

DELETE FROM "${schema}".idempotency_waits AS w WHERE w.lock_id = :lock;

DELETE FROM "${schema}".idempotency_keys AS k
 WHERE k.idempotency_key = ANY (:keys)
   AND k.user_uuid = CAST(:user AS uuid)
