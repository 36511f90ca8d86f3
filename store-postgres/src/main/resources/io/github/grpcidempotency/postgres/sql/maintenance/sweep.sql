SELECT ${statement_timeout};

SELECT "${schema}".sweep_expired(:batch) AS swept,
       pg_current_xact_id()::text AS transaction,
       pg_xact_status(CAST(:before AS xid8)) = 'committed' AS kept
