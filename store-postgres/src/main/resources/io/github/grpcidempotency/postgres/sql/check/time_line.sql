SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS time_line
