-- More columns of record.sql: refuse the commit if this is not the claim's transaction.
, ${taken} AS taken,
       CASE
         WHEN now() + :retention_millis * interval '1 millisecond'
              IS DISTINCT FROM CAST(:expires AS timestamptz)
         THEN "${schema}".refuse_commit('IK004')
       END
