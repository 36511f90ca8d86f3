-- The asynchronous work behind a create: an outbox row, written in the resource's own transaction, names
-- the authorization tuple that the worker writes.
CREATE SCHEMA authz;

CREATE TABLE authz.outbox (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id       uuid NOT NULL,
  resource_id   uuid NOT NULL,
  resource_name text NOT NULL,
  subject       text NOT NULL,
  relation      text NOT NULL,
  object        text NOT NULL,
  status        text NOT NULL DEFAULT 'pending',
  attempts      int NOT NULL DEFAULT 0,
  next_attempt  timestamptz NOT NULL,
  last_error    text,
  created       timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT outbox_status CHECK (status IN ('pending', 'retrying', 'completed', 'failed'))
);

-- A replay of a create reads the latest row of its resource.
CREATE INDEX outbox_resource ON authz.outbox (resource_id, id DESC);

-- The worker reads the rows that are due.
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

-- The worker works for every user. It has its own role and its own policy, which do not apply to connections that serve calls.
CREATE POLICY every_row_for_the_worker ON authz.outbox TO ${worker_role} USING (true);
CREATE POLICY every_row_for_the_worker ON authz.tuples TO ${worker_role} USING (true);

GRANT USAGE ON SCHEMA authz TO ${app_role}, ${worker_role};
GRANT USAGE ON SCHEMA tenant TO ${worker_role}; -- for the function in the policies, not for its tables
GRANT SELECT, INSERT, DELETE ON authz.outbox TO ${app_role};
GRANT SELECT, DELETE ON authz.tuples TO ${app_role};
GRANT SELECT, UPDATE (status, attempts, next_attempt, last_error) ON authz.outbox TO ${worker_role};
GRANT SELECT, INSERT ON authz.tuples TO ${worker_role};
