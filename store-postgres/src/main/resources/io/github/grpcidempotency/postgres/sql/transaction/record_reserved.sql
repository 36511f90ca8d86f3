${use}
-- Refuses the commit if this is not the claim's transaction, or if its user has changed.
SELECT CASE
         WHEN now() + :retention_millis * interval '1 millisecond'
              IS DISTINCT FROM CAST(:expires AS timestamptz)
              OR current_setting('app.current_user_id', true) IS DISTINCT FROM :user
         THEN ${schema}.refuse_commit('${ended}')
       END,
       ${lock_timeout}, ${generic_plans};${wake}${reference}

WITH done AS (
  ${update}
)
SELECT ${schema}.refuse_commit('${lost}') WHERE NOT EXISTS (SELECT FROM done);
${commit}
