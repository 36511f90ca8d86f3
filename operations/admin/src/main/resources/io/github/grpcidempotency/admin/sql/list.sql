SELECT (page.operation).*,
       ARRAY(SELECT (extract(epoch FROM t) * 1000)::bigint FROM unnest((page.operation).taken_over) AS t) AS taken_over_millis,
       page.continue_with
  FROM "${schema}".operator_list(
         NULLIF(CAST(:states AS text[]), '{}'),
         CAST(:procedure AS text),
         CAST(:tenant AS text),
         CAST(:project AS text),
         CAST(:user AS uuid),
         CAST(:server AS text),
         CAST(:older_than_millis AS bigint) * interval '1 millisecond',
         CAST(:newer_than_millis AS bigint) * interval '1 millisecond',
         CAST(:expiring_within_millis AS bigint) * interval '1 millisecond',
         CAST(:after AS text),
         :limit) AS page
