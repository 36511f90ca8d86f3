${begin}

SELECT ${caller},
       ${kept_lock_timeout},
       pg_try_advisory_xact_lock(:lock) AS locked,
       now() + :retention_millis * interval '1 millisecond' AS expires,
       current_setting('transaction_read_only')::boolean AS read_only;

${select_record}
 WHERE (SELECT ${restored_lock_timeout}) IS NOT NULL -- for the handler's statements; evaluated once the tables are locked
