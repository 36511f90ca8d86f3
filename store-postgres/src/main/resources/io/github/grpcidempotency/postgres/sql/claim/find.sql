-- What the row costs to find does not depend on the values, so its plan is kept. Left to itself, PostgreSQL
-- plans every look-up anew where an outbox has grown since it was analyzed.
SELECT set_config('app.current_user_id', :user, true), ${lock_timeout},
       set_config('plan_cache_mode', 'force_generic_plan', true);

${select_record}
