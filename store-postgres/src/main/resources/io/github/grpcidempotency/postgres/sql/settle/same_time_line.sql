AND (CAST(:time_line AS text) IS NULL
     OR left(pg_walfile_name(pg_current_wal_lsn()), 8) = CAST(:time_line AS text))
