-- The best plan does not depend on the values, so one generic plan is used. By default, PostgreSQL would
-- plan every look-up again if an outbox has grown since it was analyzed.
SELECT set_config('app.current_user_id', :user, true), ${lock_timeout},
       set_config('plan_cache_mode', 'force_generic_plan', true);

${select_record}
