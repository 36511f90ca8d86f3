SELECT target,
       method,
       count(*) AS intents,
       max(${age_ms}) AS oldest_ms
  FROM ${intents}
 WHERE due <= ${in_ms}
   AND (target, method) NOT IN (VALUES ${routes})
 GROUP BY target, method
 ORDER BY target, method
