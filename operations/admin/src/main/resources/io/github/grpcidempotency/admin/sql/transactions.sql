SELECT t.pid,
       NULLIF(a.application_name, '') AS application,
       host(a.client_addr) || ':' || a.client_port AS address,
       a.xact_start AS since
  FROM "${schema}".operator_transactions(:key, CAST(:tenant AS text), CAST(:project AS text), :user) AS t (pid)
  LEFT JOIN pg_stat_activity AS a USING (pid)
