SELECT h.version
  FROM "${schema}".flyway_schema_history AS h
 WHERE h.success
   AND h.version IS NOT NULL
 ORDER BY h.installed_rank
