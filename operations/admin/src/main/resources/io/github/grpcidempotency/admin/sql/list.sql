SELECT (page.operation).*, page.continue_with
  FROM ${schema}.operator_list(
         NULLIF(CAST(:states AS text[]), '{}'),
         CAST(:procedure AS text),
         CAST(:namespace AS text),
         CAST(:user AS uuid),
         CAST(:older_than_millis AS bigint) * interval '1 millisecond',
         CAST(:expiring_within_millis AS bigint) * interval '1 millisecond',
         CAST(:after AS text),
         :limit) AS page
