-- Callers mint the ids of installs, and two of them may mint the same: were it unique over all users, one would learn from a
-- refusal what another has. So it is unique for its owner, and id is the server's own.
ALTER TABLE tenant.installs ADD COLUMN install_id uuid;

-- For the rows that there are: row-level security would hide them from an UPDATE.
ALTER TABLE tenant.installs ALTER COLUMN install_id TYPE uuid USING id;

ALTER TABLE tenant.installs
  ALTER COLUMN install_id SET NOT NULL,
  ADD UNIQUE (user_id, organization, install_id);
