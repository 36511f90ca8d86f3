${begin}

SELECT ${caller},
       CASE
         WHEN current_setting('transaction_read_only')::boolean
              OR NOT pg_try_advisory_xact_lock(:lock)
         THEN "${schema}".refuse_claim()
       END,
       now() + :retention_millis * interval '1 millisecond' AS expires;

-- A separate statement, so that it sees every row that was committed before the lock was won. If there is
-- a row, the call claims again with claim.sql, which reads the row.
SELECT "${schema}".refuse_claim()
  FROM "${schema}".idempotency_keys AS k
 WHERE ${same_key}
 LIMIT 1 -- as in select_record.sql
