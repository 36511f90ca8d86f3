-- A commit that is not written at once may be lost after it was answered.
SELECT current_setting('synchronous_commit') AS commits WHERE current_setting('synchronous_commit') = 'off'
