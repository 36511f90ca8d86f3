SELECT
  rows,
  (SELECT sum(pg_stat_get_dead_tuples(c.oid))
     FROM pg_class AS c
    WHERE c.oid = '"${schema}".idempotency_keys'::regclass
       OR c.oid IN (SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = '"${schema}".idempotency_keys'::regclass)
  ) AS dead_rows,
  bytes,
  in_flight,
  stuck,
  unknown,
  CASE WHEN in_flight IS NOT NULL THEN coalesce(extract(EPOCH FROM oldest_in_flight), 0) END AS oldest_in_flight_seconds,
  expired,
  coalesce(extract(EPOCH FROM sweep_lag), 0) AS sweep_lag_seconds,
  extract(EPOCH FROM clock_timestamp()) AS clock_seconds
FROM "${schema}".statistics()
