SELECT CAST(c.oid AS regclass)::text
  FROM pg_class AS c
 WHERE c.relkind = 'r'
   AND (c.oid = '%1$s'::regclass
        OR c.oid IN (SELECT relid FROM pg_partition_tree('%1$s')))
 ORDER BY c.relname
