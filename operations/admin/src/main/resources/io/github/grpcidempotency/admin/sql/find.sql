SELECT o.*,
       ARRAY(SELECT (extract(epoch FROM t) * 1000)::bigint FROM unnest(o.taken_over) AS t) AS taken_over_millis
  FROM "${schema}".operator_find(:id, CAST(:key AS text), CAST(:tenant AS text), CAST(:project AS text)) AS o
