-- Without generic plans, PostgreSQL would also plan every look-up again if an outbox has grown since it was
-- analyzed.
SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${generic_plans}${settings};

${select_record}
