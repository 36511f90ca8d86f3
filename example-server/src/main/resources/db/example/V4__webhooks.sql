-- Webhooks, and the deliveries of providers. A webhook acts as a user of its own, whose id is the id of the webhook: its
-- deliveries belong to that principal.
CREATE TABLE tenant.webhooks (
  id             uuid PRIMARY KEY,
  user_id        uuid NOT NULL,          -- who registered it
  organization   text NOT NULL,
  project_id     uuid NOT NULL REFERENCES tenant.projects ON DELETE CASCADE,
  opaque_id      text NOT NULL UNIQUE,   -- names the webhook in deliveries
  provider       text NOT NULL,
  signing_secret text NOT NULL,
  created        timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhooks_provider CHECK (provider IN ('stripe', 'github'))
);

-- No constraint prevents a second row for an event: the library does.
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

-- The check of a signature needs the secret itself, not a hash. The application can write the column and cannot read it. The
-- function below returns the secret of one webhook, whose opaque id the application must have. So no injected query can list
-- secrets.
GRANT SELECT (id, user_id, organization, project_id, opaque_id, provider, created), INSERT
  ON tenant.webhooks TO ${app_role};
GRANT SELECT, INSERT ON tenant.webhook_deliveries TO ${app_role};

-- A delivery has no user, so no user's policy shows its webhook. The policy of the schema's owner applies in the function only.
CREATE POLICY lookup ON tenant.webhooks FOR SELECT TO CURRENT_USER USING (true);

-- Also returns the database's time, by which every server computes the age of a signature.
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
