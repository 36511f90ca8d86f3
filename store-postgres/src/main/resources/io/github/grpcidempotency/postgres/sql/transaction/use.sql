-- Returns whether the handler has used the host's transaction. Refuses the commit if this is not the claim's
-- transaction. If the transaction has written nothing, or if the claim has deleted a row in it, its locks on
-- other tables show whether it was used.
SELECT CASE
         WHEN CAST(:cleared AS uuid) IS NULL AND pg_current_xact_id_if_assigned() IS NOT NULL
         THEN true
         ELSE ${touched}
       END AS taken,
       CASE
         WHEN now() + :retention_millis * interval '1 millisecond'
              IS DISTINCT FROM CAST(:expires AS timestamptz)
         THEN "${schema}".refuse_commit('${ended}')
       END;
