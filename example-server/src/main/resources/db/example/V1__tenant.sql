-- What users create. Every row belongs to one user; row-level security shows a user its own rows only.
-- The organization is a plain filter of the queries: one user may work for several.
-- Flyway has created the schema tenant, in which it keeps its history.

CREATE FUNCTION tenant.current_user_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  -- '' is what a transaction-local setting leaves behind in its session
  RETURN nullif(current_setting('app.current_user_id', true), '')::uuid;

CREATE TABLE tenant.projects (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  name         text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenant.project_members (
  id             uuid PRIMARY KEY,
  user_id        uuid NOT NULL,
  organization   text NOT NULL,
  project_id     uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  member_user_id uuid NOT NULL,
  role           text NOT NULL,
  created        timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, member_user_id)
);

CREATE TABLE tenant.clusters (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  project_id   uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  name         text NOT NULL,
  region       text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenant.node_pools (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  cluster_id   uuid NOT NULL REFERENCES tenant.clusters ON DELETE CASCADE,
  name         text NOT NULL,
  node_count   int NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenant.installs (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  cluster_id   uuid NOT NULL REFERENCES tenant.clusters ON DELETE CASCADE,
  name         text NOT NULL,
  version      text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenant.namespaces (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  project_id   uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  name         text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenant.api_keys (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  project_id   uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  name         text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tenant.invites (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  email        text NOT NULL,
  role         text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

-- UUIDv7 ids are ordered by time, so these also serve "newest first".
CREATE INDEX projects_of_user ON tenant.projects (user_id, organization, id DESC);
CREATE INDEX project_members_of_project ON tenant.project_members (project_id, id DESC);
CREATE INDEX clusters_of_project ON tenant.clusters (project_id, id DESC);
CREATE INDEX node_pools_of_cluster ON tenant.node_pools (cluster_id, id DESC);
CREATE INDEX installs_of_cluster ON tenant.installs (cluster_id, id DESC);
CREATE INDEX namespaces_of_project ON tenant.namespaces (project_id, id DESC);
CREATE INDEX api_keys_of_project ON tenant.api_keys (project_id, id DESC);
CREATE INDEX invites_of_user ON tenant.invites (user_id, organization, id DESC);

GRANT USAGE ON SCHEMA tenant TO ${app_role};

DO $$
DECLARE
  resource_table name;
BEGIN
  FOREACH resource_table IN ARRAY ARRAY[
    'projects', 'project_members', 'clusters', 'node_pools',
    'installs', 'namespaces', 'api_keys', 'invites'
  ] LOOP
    EXECUTE format('ALTER TABLE tenant.%I ENABLE ROW LEVEL SECURITY', resource_table);
    EXECUTE format('ALTER TABLE tenant.%I FORCE ROW LEVEL SECURITY', resource_table);
    EXECUTE format(
      'CREATE POLICY own_rows ON tenant.%I USING (user_id = tenant.current_user_id())', resource_table);
    EXECUTE format('GRANT SELECT, INSERT ON tenant.%I TO ${app_role}', resource_table);
  END LOOP;
END
$$;
