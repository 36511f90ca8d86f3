SELECT s.rows,
       s.bytes,
       s.in_flight,
       s.stuck,
       s.unknown,
       (extract(epoch FROM s.oldest_in_flight) * 1000)::bigint AS oldest_in_flight_millis,
       s.expired,
       s.expired_is_more,
       (extract(epoch FROM s.sweep_lag) * 1000)::bigint AS sweep_lag_millis,
       s.key_locks
  FROM "${schema}".statistics() AS s
