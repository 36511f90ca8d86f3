SELECT "${schema}".operator_delete('forget', :id, :actor, :reason, true, :dry_run)
