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

CREATE TABLE app.notes (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  note text NOT NULL UNIQUE
);

GRANT USAGE ON SCHEMA app TO things_app;
GRANT SELECT, INSERT ON app.things, app.notes TO things_app;

SELECT idempotency.add_resource_type('thing', 'app.things', 'id');
SELECT idempotency.grant_to('things_app');
