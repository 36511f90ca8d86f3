CASE WHEN current_setting('synchronous_standby_names') = ''
       OR current_setting('synchronous_commit') IN ('local', 'off')
     THEN left(pg_walfile_name(pg_current_wal_lsn()), 8)
 END
