-- What the host's migration tells the library, once per schema of the library's.
DO $$
DECLARE
  resource text;
BEGIN
  FOR resource IN
    SELECT unnest(ARRAY[
      'project', 'namespace', 'cluster', 'node_pool', 'api_key', 'invite', 'app_install', 'webhook'])
  LOOP
    PERFORM idempotency.add_resource_type(resource, format('app.%I', resource)::regclass, 'id');
  END LOOP;
END
$$;
SELECT idempotency.grant_to('benchmark_app');
