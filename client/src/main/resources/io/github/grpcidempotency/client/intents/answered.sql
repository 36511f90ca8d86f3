UPDATE ${intents}
   SET due = ${in_ms},
       answer = ?
 WHERE key = ?
   AND fence = ?
