SELECT pg_xact_status(CAST(:transaction AS xid8)) = 'in progress' AS open
