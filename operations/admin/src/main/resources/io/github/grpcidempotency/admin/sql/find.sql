SELECT (page.operation).*,
       ARRAY(SELECT (extract(epoch FROM t) * 1000)::bigint FROM unnest((page.operation).taken_over) AS t) AS taken_over_millis,
       page.continue_with
  FROM "${schema}".operator_find(
         operation_id => CAST(:id AS uuid),
         of_key => CAST(:key AS text),
         states => NULLIF(CAST(:states AS text[]), '{}'),
         of_procedure => CAST(:procedure AS text),
         of_tenant => CAST(:tenant AS text),
         of_project => CAST(:project AS text),
         of_user => CAST(:user AS uuid),
         of_server => CAST(:server AS text),
         older_than => CAST(:older_than_millis AS bigint) * interval '1 millisecond',
         newer_than => CAST(:newer_than_millis AS bigint) * interval '1 millisecond',
         expiring_within => CAST(:expiring_within_millis AS bigint) * interval '1 millisecond',
         continued => CAST(:after AS text),
         page => :limit) AS page
