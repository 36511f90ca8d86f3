SELECT running
  FROM ${schema}.in_flight(
         ARRAY[CAST(:key AS text)], ARRAY[CAST(:user AS uuid)], ARRAY[CAST(:lock AS bigint)]) AS running
