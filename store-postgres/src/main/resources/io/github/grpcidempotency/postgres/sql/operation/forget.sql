SELECT ${caller}, ${lock_timeout};

DELETE FROM "${schema}".idempotency_keys AS k
 WHERE k.id = :id
   AND k.user_uuid = CAST(:user AS uuid)
   AND k.tenant = :tenant
   AND k.project = :project
   AND k.procedure = ANY (:procedures)
   AND k.completed IS NOT NULL
RETURNING k.id
