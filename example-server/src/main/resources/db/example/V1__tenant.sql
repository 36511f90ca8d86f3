-- What users create. Every row belongs to one user; row-level security shows a user its own rows only.
-- The organization is a plain filter of the queries: one user may work for several.
-- Flyway has created the schema tenant, in which it keeps its history.

CREATE FUNCTION tenant.current_user_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  -- a transaction-local setting leaves '' in its session
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
  machine      text NOT NULL,            -- the provider's id
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

-- Callers choose install_id, and two callers may choose the same: it is unique for its owner only, because the error for a
-- taken id would otherwise reveal another user's rows. The server's own id is the primary key.
CREATE TABLE tenant.installs (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  cluster_id   uuid NOT NULL REFERENCES tenant.clusters ON DELETE CASCADE,
  install_id   uuid NOT NULL,
  name         text NOT NULL,
  version      text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (user_id, organization, install_id)
);

CREATE TABLE tenant.namespaces (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  project_id   uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  name         text NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

-- A secret is returned once. The table holds its hash.
CREATE TABLE tenant.api_keys (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  project_id   uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  name         text NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  created      timestamptz NOT NULL DEFAULT now(),
  revoked      timestamptz
);

CREATE TABLE tenant.invites (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  email        text NOT NULL,
  role         text NOT NULL,
  link_sha256  bytea NOT NULL UNIQUE CHECK (length(link_sha256) = 32),
  created      timestamptz NOT NULL DEFAULT now()
);

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

GRANT UPDATE (revoked) ON tenant.api_keys TO ${app_role};
GRANT DELETE ON tenant.namespaces TO ${app_role};
