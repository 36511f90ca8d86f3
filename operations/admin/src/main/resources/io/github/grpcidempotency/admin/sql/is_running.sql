SELECT ${schema}.operator_is_running(:key, :user)
