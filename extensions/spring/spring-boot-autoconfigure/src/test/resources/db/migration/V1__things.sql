CREATE SCHEMA app;

CREATE TABLE app.things (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  name text NOT NULL
);
ALTER TABLE app.things ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_things ON app.things
  USING (user_id = nullif(current_setting('app.current_user_id', true), '')::uuid);

CREATE TABLE app.outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thing_id uuid NOT NULL,
  state text NOT NULL
);

SELECT idempotency.add_resource_type('thing', 'app.things');
SELECT idempotency.grant_to('boot_app');

GRANT USAGE ON SCHEMA app TO boot_app;
GRANT SELECT, INSERT, DELETE ON app.things TO boot_app;
GRANT SELECT ON app.outbox TO boot_app;
