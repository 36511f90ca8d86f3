SELECT e.records, e.reservations, e.running, e.upto
  FROM "${schema}".operator_erase(
         CAST(:user AS uuid), CAST(:tenant AS text), CAST(:project AS text), :actor, :reason, :dry_run, CAST(:continued AS uuid)) AS e
