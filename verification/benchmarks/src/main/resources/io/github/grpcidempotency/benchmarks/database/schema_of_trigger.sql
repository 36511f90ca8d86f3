SELECT n.nspname
  FROM pg_trigger AS t
  JOIN pg_class AS c ON c.oid = t.tgconstrrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE t.tgname = :trigger AND t.tgrelid = 'app.project'::regclass
