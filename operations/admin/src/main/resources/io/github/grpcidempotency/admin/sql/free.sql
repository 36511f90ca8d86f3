SELECT ${schema}.operator_free(:id, :actor, :reason, :even_if_live, :dry_run)
