SELECT ${schema}.operator_forget(:id, :actor, :reason, :dry_run)
