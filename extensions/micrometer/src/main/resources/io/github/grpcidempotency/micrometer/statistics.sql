SELECT
  rows,
  bytes,
  in_flight,
  stuck,
  unknown,
  CASE WHEN in_flight IS NOT NULL THEN coalesce(extract(EPOCH FROM oldest_in_flight), 0) END AS oldest_in_flight_seconds,
  expired,
  coalesce(extract(EPOCH FROM sweep_lag), 0) AS sweep_lag_seconds
FROM ${schema}.statistics()
