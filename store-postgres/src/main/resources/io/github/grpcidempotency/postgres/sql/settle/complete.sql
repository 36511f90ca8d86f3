SELECT set_config('app.current_user_id', :user, true), ${lock_timeout}, ${generic_plans};${wake}${reference}

${update}
