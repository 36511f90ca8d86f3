AND (c.time_line IS NULL
     OR c.time_line = (SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)))
