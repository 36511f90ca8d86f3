SELECT set_config('app.current_user_id', :user, true)${settings};

${outbox};

${rollback}
