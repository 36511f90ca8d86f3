-- Returns whether another call may have, or have had, the key. The record is read in a separate statement, so that
-- every record is seen that was committed before the lock was free.
SELECT ${caller}, ${lock_timeout},
       current_setting('transaction_read_only')::boolean OR NOT pg_try_advisory_xact_lock(:lock) AS owned;
${wake}
SELECT true
  FROM "${schema}".idempotency_keys AS k
 WHERE ${same_key}
   AND k.expires > now()
 LIMIT 1 -- as in select_record.sql
