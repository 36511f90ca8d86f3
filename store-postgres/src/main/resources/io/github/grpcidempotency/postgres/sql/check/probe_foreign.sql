SELECT set_config('app.current_user_id', :user, true),
       set_config('app.current_user_ids', '{' || :user || '}', true),
       ${lock_timeout};

SELECT k.id FROM "${schema}".idempotency_keys AS k WHERE k.id = :id
