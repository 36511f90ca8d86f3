UPDATE ${intents}
   SET due = ${in_ms},
       sent = CASE WHEN ? THEN 0 ELSE sent END
 WHERE key = ?
   AND fence = ?
