-- The host's own migration.
CREATE SCHEMA app;

CREATE TABLE app.things (
  id      uuid PRIMARY KEY,
  user_id uuid NOT NULL DEFAULT idempotency.current_user_id(),
  name    text NOT NULL CONSTRAINT no_bad_name CHECK (name <> 'bad'),
  -- Found out at the commit only.
  CONSTRAINT one_name UNIQUE (user_id, name) DEFERRABLE INITIALLY DEFERRED
);

ALTER TABLE app.things ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.things FORCE ROW LEVEL SECURITY;

CREATE POLICY own_things ON app.things
  FOR ALL
  USING (user_id = idempotency.current_user_id());

-- What a host writes on nobody's behalf.
CREATE TABLE app.notes (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text text NOT NULL
);

-- Taken at once: a second INSERT of a name waits until the first one's transaction has ended.
CREATE TABLE app.names (
  name text PRIMARY KEY
);

CREATE SEQUENCE app.ticket_ids;

CREATE TABLE app.tickets (
  id bigint PRIMARY KEY
);

GRANT USAGE ON SCHEMA app TO things_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.things, app.notes, app.names, app.tickets TO things_app;
GRANT USAGE ON SEQUENCE app.ticket_ids TO things_app;

SELECT idempotency.add_resource_type('thing', 'app.things', 'id');
SELECT idempotency.grant_to('things_app');
