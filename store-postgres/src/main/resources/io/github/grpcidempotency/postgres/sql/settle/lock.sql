-- Runs in the handler's own transaction, whose lock_timeout it restores. If the lock is refused, the
-- transaction has failed, so the handler cannot commit it.
SELECT ${caller}, ${kept_lock_timeout};

WITH locked AS (
  SELECT CAST(pg_current_xact_id() AS text) AS transaction
    FROM "${schema}".idempotency_keys AS k
   WHERE k.id = :id
     AND ${same_key}
     AND k.attempt = :attempt
     AND k.completed IS NULL
     FOR NO KEY UPDATE
)
SELECT (SELECT transaction FROM locked) AS transaction,
       CASE WHEN NOT EXISTS (SELECT FROM locked) THEN "${schema}".refuse_commit('IK002') END,
       ${restored_lock_timeout} -- evaluated last, when the row is locked
