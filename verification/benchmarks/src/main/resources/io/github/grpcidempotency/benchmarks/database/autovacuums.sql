SELECT CAST(relid AS regclass)::text AS leaf, autovacuum_count AS count, n_dead_tup AS dead,
       COALESCE(CAST(to_jsonb(s) ->> 'total_autovacuum_time' AS float8), 0) / 1000 AS seconds
  FROM pg_stat_user_tables AS s
