-- What the handlers write, without any constraint that could hide a second effect; and what was done
-- to records behind everybody's back. Run by a superuser.
CREATE SCHEMA torture;

CREATE TABLE torture.effects (
  key     text        NOT NULL,
  user_id uuid        NOT NULL,
  server  text        NOT NULL,
  form    text        NOT NULL,
  payload text        NOT NULL,
  value   uuid        PRIMARY KEY, -- another one for each run of a handler
  guarded boolean     NOT NULL,
  way     text        NOT NULL DEFAULT 'PLAIN', -- which the previous version does not know
  began   timestamptz NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Names that some handlers write as well: a twin that comes second fails.
CREATE TABLE torture.names (
  user_id uuid NOT NULL,
  key     text NOT NULL,
  PRIMARY KEY (user_id, key)
);

CREATE TABLE torture.changes (
  kind    text        NOT NULL,
  key     text        NOT NULL,
  user_id uuid        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What servers have found themselves.
CREATE TABLE torture.findings (
  rule   text        NOT NULL,
  server text        NOT NULL,
  what   text        NOT NULL,
  at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- How many batches servers have sent, and how many calls were in them.
CREATE TABLE torture.batches (
  batches bigint NOT NULL,
  calls   bigint NOT NULL
);

-- Count what is rolled back.
CREATE SEQUENCE torture.refused_recordings;
CREATE SEQUENCE torture.preempted;

GRANT USAGE ON SCHEMA torture TO torture_app, torture_past;
GRANT INSERT ON torture.effects TO torture_app, torture_past;
GRANT SELECT (key, user_id) ON torture.effects TO torture_app; -- for RETURNING
GRANT INSERT ON torture.names TO torture_app;
GRANT INSERT ON torture.findings, torture.batches TO torture_past;
GRANT USAGE ON SEQUENCE torture.preempted TO torture_past;

-- The key of a scope, as the history has it.
CREATE FUNCTION torture.key_of(tenant text, key text) RETURNS text
  LANGUAGE sql IMMUTABLE
AS $$
  SELECT CASE tenant WHEN '' THEN key ELSE tenant || ':' || key END;
$$;

-- Notes every change of a completed record that has not expired, and every takeover.
CREATE FUNCTION torture.note_change() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER
AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.expires > OLD.expires
     AND to_jsonb(NEW) - 'expires' - 'retained' = to_jsonb(OLD) - 'expires' - 'retained' THEN
    RETURN NULL; -- retained from its last replay
  ELSIF OLD.completed IS NOT NULL AND OLD.expires > clock_timestamp() THEN
    INSERT INTO torture.changes (kind, key, user_id)
    VALUES (TG_OP, torture.key_of(OLD.tenant, OLD.idempotency_key), OLD.user_uuid);
  ELSIF TG_OP = 'UPDATE' AND NEW.attempt > OLD.attempt THEN
    INSERT INTO torture.changes (kind, key, user_id)
    VALUES ('TAKEOVER', torture.key_of(OLD.tenant, OLD.idempotency_key), OLD.user_uuid);
  END IF;
  RETURN NULL;
END;
$$;

CREATE TRIGGER note_change AFTER UPDATE OR DELETE ON idempotency.idempotency_keys
  FOR EACH ROW
  WHEN (OLD.procedure <> 'idempotency/probe') -- which start-up makes, and takes away
  EXECUTE FUNCTION torture.note_change();

-- Records of this procedure are an hour old when they are made, so that their first replay retains
-- them for longer.
CREATE FUNCTION torture.make_older() RETURNS trigger
  LANGUAGE plpgsql
AS $$
BEGIN
  NEW.expires := NEW.expires - interval '1 hour';
  RETURN NEW;
END;
$$;

CREATE TRIGGER make_older BEFORE UPDATE ON idempotency.idempotency_keys
  FOR EACH ROW
  WHEN (OLD.completed IS NULL AND NEW.completed IS NOT NULL AND NEW.procedure LIKE '%/FailOpen')
  EXECUTE FUNCTION torture.make_older();

SELECT idempotency.add_resource_type('effect', 'torture.effects', 'value');
SELECT idempotency.grant_to('torture_app');
