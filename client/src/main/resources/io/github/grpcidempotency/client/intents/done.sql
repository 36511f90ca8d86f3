DELETE FROM ${intents}
 WHERE key = ?
   AND fence = ?
