${begin}

SELECT ${caller},
       ${kept_lock_timeout},
       pg_try_advisory_xact_lock(:lock) AS locked,
       now() + :retention_millis * interval '1 millisecond' AS expires,
       current_setting('transaction_read_only')::boolean AS read_only;

${select_record};

SELECT ${restored_lock_timeout} -- for the handler's statements
