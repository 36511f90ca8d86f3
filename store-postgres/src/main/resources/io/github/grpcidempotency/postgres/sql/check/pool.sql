-- Whether the role can write, and whether a commit that was already answered may be lost. A server with fsync = off, such as a test's,
-- is not meant to keep its data.
SELECT CASE
         WHEN NOT current_setting('transaction_read_only')::boolean
         THEN ''
         WHEN pg_is_in_recovery()
         THEN 'leads to a standby, which accepts no writes: connect the pool to the primary'
              || ' (targetServerType=primary)'
         ELSE 'gives connections that are read-only (default_transaction_read_only is on): set'
              || ' it to off for this pool'
       END AS problem,
       current_setting('synchronous_commit') = 'off' AND current_setting('fsync') = 'on' AS loses_commits
