SELECT "${schema}".operator_sweep(:batch, :actor, :reason)
