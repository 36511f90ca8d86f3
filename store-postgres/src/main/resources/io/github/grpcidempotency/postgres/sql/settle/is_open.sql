-- After a failover, the transaction's id may be greater than the ids of this server: the transaction is lost.
SELECT CASE
         WHEN CAST(:transaction AS xid8) <= pg_current_xact_id()
         THEN pg_xact_status(CAST(:transaction AS xid8)) = 'in progress'
         ELSE false
       END AS open
