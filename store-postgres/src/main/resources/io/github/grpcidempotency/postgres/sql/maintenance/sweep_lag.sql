SELECT ${statement_timeout};

SELECT COALESCE(extract(epoch FROM s.sweep_lag) * 1000, 0)::bigint AS lag_millis
  FROM "${schema}".statistics() AS s
