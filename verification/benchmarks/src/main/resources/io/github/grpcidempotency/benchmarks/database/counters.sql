SELECT n_dead_tup AS dead, n_tup_del AS deleted, n_tup_upd AS updated,
       n_tup_hot_upd AS updated_hot, autovacuum_count AS vacuums,
       coalesce((to_jsonb(s) ->> 'total_autovacuum_time')::float8, 0) AS vacuum_millis,
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal
  FROM pg_stat_user_tables AS s
 WHERE relid = 'idempotency.idempotency_keys'::regclass
