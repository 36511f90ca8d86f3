-- The service under measurement: eight kinds of resources and an outbox, under row-level security.
CREATE SCHEMA app;

CREATE TABLE app.outbox (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  user_id    uuid NOT NULL,
  status     text NOT NULL
);
CREATE INDEX ON app.outbox (project_id, id DESC);

-- For the variant that keeps no more than a key and an answer.
CREATE TABLE app.answer (
  idempotency_key text  NOT NULL,
  user_id         uuid  NOT NULL,
  response        bytea NOT NULL,
  PRIMARY KEY (idempotency_key, user_id)
);

DO $$
DECLARE
  resource text;
BEGIN
  FOREACH resource IN ARRAY ARRAY[
    'project', 'namespace', 'cluster', 'node_pool', 'api_key', 'invite', 'app_install', 'webhook']
  LOOP
    EXECUTE format(
      'CREATE TABLE app.%I (id uuid PRIMARY KEY, user_id uuid NOT NULL, name text NOT NULL)', resource);
  END LOOP;
  FOREACH resource IN ARRAY ARRAY[
    'outbox',
    'project', 'namespace', 'cluster', 'node_pool', 'api_key', 'invite', 'app_install', 'webhook']
  LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', resource);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', resource);
    EXECUTE format(
      'CREATE POLICY own_rows ON app.%I FOR ALL'
      ' USING (user_id = NULLIF(current_setting(''app.current_user_id'', true), '''')::uuid)', resource);
  END LOOP;
END
$$;

GRANT USAGE ON SCHEMA app TO benchmark_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA app TO benchmark_app;
