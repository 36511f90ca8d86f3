-- After a failover, a transaction may have an id that this server has not reached: it is lost.
SELECT CASE
         WHEN CAST(:transaction AS xid8) <= pg_current_xact_id()
         THEN pg_xact_status(CAST(:transaction AS xid8)) = 'in progress'
         ELSE false
       END AS open
