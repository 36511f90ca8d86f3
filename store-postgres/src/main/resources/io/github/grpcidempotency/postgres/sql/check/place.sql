-- The database and the role of a connection.
SELECT d.datname || ' of the server started ' || pg_postmaster_start_time() AS database,
       d.oid::text AS id,
       CAST(current_user AS text) AS role,
       current_setting('search_path') AS search_path,
       current_setting('transaction_read_only')::boolean AS read_only
  FROM pg_database AS d
 WHERE d.datname = current_database()
