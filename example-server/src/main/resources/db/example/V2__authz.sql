-- The asynchronous work behind a create: an outbox row, written in the resource's own transaction, tells
-- the worker which authorization tuple to write.
CREATE SCHEMA authz;

CREATE TABLE authz.outbox (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id           uuid NOT NULL,
  resource_name     text NOT NULL,
  subject           text NOT NULL,
  relation          text NOT NULL,
  object            text NOT NULL,
  status            text NOT NULL DEFAULT 'pending',
  attempts          int NOT NULL DEFAULT 0,
  next_attempt      timestamptz NOT NULL,
  last_error        text,
  created           timestamptz NOT NULL DEFAULT now(),
  project_id        uuid REFERENCES tenant.projects ON DELETE CASCADE,
  project_member_id uuid REFERENCES tenant.project_members ON DELETE CASCADE,
  cluster_id        uuid REFERENCES tenant.clusters ON DELETE CASCADE,
  node_pool_id      uuid REFERENCES tenant.node_pools ON DELETE CASCADE,
  install_id        uuid REFERENCES tenant.installs ON DELETE CASCADE,
  namespace_id      uuid REFERENCES tenant.namespaces ON DELETE CASCADE,
  api_key_id        uuid REFERENCES tenant.api_keys ON DELETE CASCADE,
  invite_id         uuid REFERENCES tenant.invites ON DELETE CASCADE,
  CONSTRAINT outbox_status CHECK (status IN ('pending', 'retrying', 'completed', 'failed')),
  CONSTRAINT outbox_one_resource CHECK (
    num_nonnulls(
      project_id, project_member_id, cluster_id, node_pool_id,
      install_id, namespace_id, api_key_id, invite_id
    ) = 1
  )
);

-- A replayed create asks for the latest row of its resource: one index per resource column.
CREATE INDEX outbox_project ON authz.outbox (project_id, id DESC) WHERE project_id IS NOT NULL;
CREATE INDEX outbox_project_member
  ON authz.outbox (project_member_id, id DESC) WHERE project_member_id IS NOT NULL;
CREATE INDEX outbox_cluster ON authz.outbox (cluster_id, id DESC) WHERE cluster_id IS NOT NULL;
CREATE INDEX outbox_node_pool ON authz.outbox (node_pool_id, id DESC) WHERE node_pool_id IS NOT NULL;
CREATE INDEX outbox_install ON authz.outbox (install_id, id DESC) WHERE install_id IS NOT NULL;
CREATE INDEX outbox_namespace ON authz.outbox (namespace_id, id DESC) WHERE namespace_id IS NOT NULL;
CREATE INDEX outbox_api_key ON authz.outbox (api_key_id, id DESC) WHERE api_key_id IS NOT NULL;
CREATE INDEX outbox_invite ON authz.outbox (invite_id, id DESC) WHERE invite_id IS NOT NULL;

-- What the worker asks for.
CREATE INDEX outbox_due ON authz.outbox (next_attempt) WHERE status IN ('pending', 'retrying');

CREATE TABLE authz.tuples (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id  uuid NOT NULL,
  subject  text NOT NULL,
  relation text NOT NULL,
  object   text NOT NULL,
  created  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (subject, relation, object)
);

ALTER TABLE authz.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE authz.outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE authz.tuples ENABLE ROW LEVEL SECURITY;
ALTER TABLE authz.tuples FORCE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON authz.outbox USING (user_id = tenant.current_user_id());
CREATE POLICY own_rows ON authz.tuples USING (user_id = tenant.current_user_id());

-- The worker works for every user. It gets its own role and its own policy rather than a hole in
-- everybody's: a connection that serves calls can never take this one.
CREATE POLICY every_row_for_the_worker ON authz.outbox TO ${worker_role} USING (true);
CREATE POLICY every_row_for_the_worker ON authz.tuples TO ${worker_role} USING (true);

GRANT USAGE ON SCHEMA authz TO ${app_role}, ${worker_role};
GRANT USAGE ON SCHEMA tenant TO ${worker_role}; -- for the function in the policies, not for its tables
GRANT SELECT, INSERT ON authz.outbox TO ${app_role};
GRANT SELECT ON authz.tuples TO ${app_role};
GRANT SELECT, UPDATE (status, attempts, next_attempt, last_error) ON authz.outbox TO ${worker_role};
GRANT SELECT, INSERT ON authz.tuples TO ${worker_role};
