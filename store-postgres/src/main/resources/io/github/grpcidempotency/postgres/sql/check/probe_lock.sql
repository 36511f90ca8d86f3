SELECT pg_try_advisory_xact_lock(:lock) AS locked
