-- A repeatable read or serializable transaction must have locked the row itself.
SELECT ${caller}, ${lock_timeout}, ${generic_plans},
       CASE
         WHEN current_setting('transaction_isolation') NOT LIKE 'read %'
              AND (pg_current_xact_id_if_assigned()::text = CAST(:locked_by AS text)) IS NOT TRUE
         THEN "${schema}".refuse_commit('IK003')
       END;${wake}${reference}

WITH done AS (
  ${update}
)
SELECT "${schema}".refuse_commit('IK002') WHERE NOT EXISTS (SELECT FROM done);
COMMIT
