SELECT EXISTS (
  SELECT 1
    FROM ${intents}
   WHERE (target, method) IN (VALUES ${routes}))
