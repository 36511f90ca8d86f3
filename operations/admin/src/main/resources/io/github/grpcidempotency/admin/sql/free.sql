SELECT "${schema}".operator_delete('free', :id, :actor, :reason, :even_if_live, :dry_run)
