SELECT "${schema}".operator_is_running(:key, CAST(:tenant AS text), CAST(:project AS text), :user)
