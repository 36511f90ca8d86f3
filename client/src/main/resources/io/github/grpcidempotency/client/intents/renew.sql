UPDATE ${intents}
   SET due = ${in_ms}
 WHERE key = ?
   AND fence = ?
