-- More columns of record.sql: claim the key by the record that follows. The lock excludes calls that have claimed
-- before their handler, and duplicates, which would otherwise wait for the unique index with a connection.
, ${taken} AS taken,
       ${caller},
       CASE
         WHEN current_setting('transaction_read_only')::boolean
              OR NOT pg_try_advisory_xact_lock(:lock)
         THEN "${schema}".refuse_claim()
       END,
       now() + :retention_millis * interval '1 millisecond' AS expires
