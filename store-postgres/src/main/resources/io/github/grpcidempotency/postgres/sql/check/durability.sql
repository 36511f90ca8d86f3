-- A commit that is not written at once may be lost after it was answered. A server that flushes nothing at all keeps nothing that
-- must survive, such as that of a test.
SELECT current_setting('synchronous_commit') AS commits
 WHERE current_setting('synchronous_commit') = 'off'
   AND current_setting('fsync') = 'on'
