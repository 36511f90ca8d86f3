SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${statement_timeout}${settings};

SELECT idempotency_record_resource AS resource_id, ${status} AS outbox_status
  FROM unnest(CAST(:resources AS ${type}[])) AS idempotency_record (idempotency_record_resource)
