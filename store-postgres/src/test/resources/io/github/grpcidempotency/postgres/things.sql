-- The host's own migration: one kind of resource, an outbox, and what the library has to be told.
CREATE SCHEMA app;

CREATE TABLE app.things (
  id      uuid PRIMARY KEY,
  user_id uuid NOT NULL DEFAULT idempotency.current_user_id(),
  name    text NOT NULL
);

ALTER TABLE app.things ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.things FORCE ROW LEVEL SECURITY;

CREATE POLICY own_things ON app.things
  FOR ALL
  USING (user_id = idempotency.current_user_id());

CREATE TABLE app.outbox (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thing_id uuid NOT NULL REFERENCES app.things (id) ON DELETE CASCADE,
  status   text NOT NULL
);

CREATE INDEX ON app.outbox (thing_id, id DESC);

CREATE TABLE app.notes (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  note text NOT NULL UNIQUE
);

GRANT USAGE ON SCHEMA app TO things_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.things, app.outbox, app.notes TO things_app;

SELECT idempotency.add_resource_type('thing', 'app.things', 'id');
SELECT idempotency.grant_to('things_app');

-- What every row must be like, whoever wrote it. In production the constraint would cost more than it is worth: the database
-- parses it anew for every row.
ALTER TABLE idempotency.idempotency_keys ADD CONSTRAINT outcome CHECK (
  CASE
    WHEN completed IS NULL
    THEN num_nonnulls(response_bytes, status_bytes) = 0 AND lease_expires IS NOT NULL
    ELSE num_nonnulls(response_bytes, status_bytes) <= 1 AND NOT outcome_unknown
  END);
