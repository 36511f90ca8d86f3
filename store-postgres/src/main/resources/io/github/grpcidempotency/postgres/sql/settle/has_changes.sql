-- Runs in the handler's own transaction. A transaction has an id once it has changed or locked a row.
SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS changes
