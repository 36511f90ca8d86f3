SELECT CASE
         WHEN pg_is_in_recovery()
         THEN 'leads to a standby, which accepts no writes: connect the pool to the primary'
              || ' (targetServerType=primary)'
         ELSE 'gives connections that are read-only (default_transaction_read_only is on): set'
              || ' it to off for this pool'
       END AS problem
 WHERE current_setting('transaction_read_only')::boolean
