CASE WHEN current_setting('synchronous_standby_names') = ''
     THEN left(pg_walfile_name(pg_current_wal_lsn()), 8)
 END
