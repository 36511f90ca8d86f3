SELECT target,
       method,
       count(*) AS intents,
       max((extract(epoch FROM now() - created) * 1000)::bigint) AS oldest_ms
  FROM idempotency_client.intents
 WHERE due <= now() + ? * interval '1 millisecond'
   AND (target, method) NOT IN (VALUES ${routes})
 GROUP BY target, method
 ORDER BY target, method
