SELECT CASE
         WHEN pg_is_in_recovery()
         THEN 'leads to a standby, which takes no writes: connect it to the primary'
              || ' (targetServerType=primary)'
         ELSE 'gives connections that are read-only (default_transaction_read_only is on): let it'
              || ' give ones that write'
       END AS problem
 WHERE current_setting('transaction_read_only')::boolean
