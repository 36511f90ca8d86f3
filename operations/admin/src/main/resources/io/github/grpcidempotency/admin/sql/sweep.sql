SELECT "${schema}".operator_sweep(:batch, :swept, :actor, :reason)
