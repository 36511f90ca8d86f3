SELECT ${statement_timeout};

SELECT running
  FROM "${schema}".in_flight(
         ARRAY[CAST(:key AS text)], ARRAY[CAST(:user AS uuid)], ARRAY[CAST(:tenant AS text)],
         ARRAY[CAST(:project AS text)], ARRAY[CAST(:lock AS bigint)]) AS running
