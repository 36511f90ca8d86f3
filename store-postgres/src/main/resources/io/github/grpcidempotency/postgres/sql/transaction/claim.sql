${begin}

SELECT ${caller},
       pg_try_advisory_xact_lock(:lock) AS locked,
       now() + :retention_millis * interval '1 millisecond' AS expires,
       current_setting('transaction_read_only')::boolean AS read_only;

${select_record}
