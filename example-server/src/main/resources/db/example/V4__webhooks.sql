-- Webhooks, and what providers deliver to them. A webhook acts as a user of its own, whose id is the webhook's: what it
-- delivers belongs to that principal, in its project, and to nobody else's.
CREATE TABLE tenant.webhooks (
  id             uuid PRIMARY KEY,
  user_id        uuid NOT NULL,          -- who registered it
  organization   text NOT NULL,
  project_id     uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  opaque_id      text NOT NULL UNIQUE,   -- what deliveries name
  provider       text NOT NULL,
  signing_secret text NOT NULL,
  created        timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhooks_provider CHECK (provider IN ('stripe', 'github'))
);

-- On purpose, nothing here stops an event from being taken in twice: that it is not is the library's doing.
CREATE TABLE tenant.webhook_deliveries (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL,            -- the webhook's principal
  organization text NOT NULL,
  webhook_id   uuid NOT NULL REFERENCES tenant.webhooks ON DELETE CASCADE,
  event        text NOT NULL,            -- "stripe:evt_..."
  body         bytea NOT NULL,
  created      timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE tenant.webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.webhooks FORCE ROW LEVEL SECURITY;
ALTER TABLE tenant.webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant.webhook_deliveries FORCE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON tenant.webhooks USING (user_id = tenant.current_user_id());
CREATE POLICY itself ON tenant.webhooks FOR SELECT USING (id = tenant.current_user_id());
CREATE POLICY own_rows ON tenant.webhook_deliveries USING (user_id = tenant.current_user_id());

-- Signing secrets are needed in the clear to check a signature, so they cannot be hashed. But the application writes them
-- and has no right to read the column: it gets the secret of one webhook, whose opaque id it knows, out of the function
-- below. No query that it can be tricked into lists secrets, not even those of the user it works for.
GRANT SELECT (id, user_id, organization, project_id, opaque_id, provider, created), INSERT
  ON tenant.webhooks TO ${app_role};
GRANT SELECT, INSERT ON tenant.webhook_deliveries TO ${app_role};

-- A delivery comes with no user, so nobody's policy shows its webhook. The owner's does, and only in here.
CREATE POLICY lookup ON tenant.webhooks FOR SELECT TO CURRENT_USER USING (true);

-- Also tells the time: the age of a signature is judged by the database's clock, which is the same for every server.
CREATE FUNCTION tenant.find_webhook(opaque text)
  RETURNS TABLE (
    id uuid, organization text, project_id uuid, provider text, signing_secret text, asked timestamptz
  )
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT w.id, w.organization, w.project_id, w.provider, w.signing_secret, now()
    FROM tenant.webhooks AS w
   WHERE w.opaque_id = opaque;
END;

REVOKE ALL ON FUNCTION tenant.find_webhook(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant.find_webhook(text) TO ${app_role};

SELECT idempotency.add_resource_type('webhook', 'tenant.webhooks', 'id');
SELECT idempotency.add_resource_type('webhook_delivery', 'tenant.webhook_deliveries', 'id');
