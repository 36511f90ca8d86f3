-- With synchronous_commit = off, a commit that was already answered may be lost. A server with fsync = off,
-- such as a test's, is not meant to keep its data, so it is not reported.
SELECT current_setting('synchronous_commit') AS commits
 WHERE current_setting('synchronous_commit') = 'off'
   AND current_setting('fsync') = 'on'
