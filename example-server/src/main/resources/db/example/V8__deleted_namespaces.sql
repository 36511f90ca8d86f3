-- A namespace is deleted for good. What stays is a tombstone, which tells those who delete it too late from those who name
-- what was never there.
CREATE TABLE tenant.deleted_namespaces (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,
  organization text NOT NULL,
  deleted      timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE tenant.deleted_namespaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.deleted_namespaces FORCE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON tenant.deleted_namespaces USING (user_id = tenant.current_user_id());

-- The rights to a namespace go with it; row-level security shows a user its own.
GRANT SELECT, INSERT ON tenant.deleted_namespaces TO ${app_role};
GRANT DELETE ON tenant.namespaces, authz.tuples TO ${app_role};
