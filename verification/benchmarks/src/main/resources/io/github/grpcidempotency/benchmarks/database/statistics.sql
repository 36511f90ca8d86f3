-- Flushes are counted in pg_stat_wal before PostgreSQL 18, and in pg_stat_io since.
SELECT d.xact_commit AS transactions,
       COALESCE(
         CAST(to_jsonb(w) ->> 'wal_sync' AS bigint),
         (SELECT sum(io.fsyncs) FROM pg_stat_io AS io WHERE io.object = 'wal')) AS wal_syncs,
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal_bytes
  FROM pg_stat_wal AS w, pg_stat_database AS d
 WHERE d.datname = current_database()
