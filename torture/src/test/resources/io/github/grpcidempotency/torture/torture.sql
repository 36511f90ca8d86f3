-- What the handlers write, without any constraint that could hide a second effect; and what was done
-- to records behind everybody's back. Run by a superuser.
CREATE SCHEMA torture;

CREATE TABLE torture.effects (
  key     text        NOT NULL,
  user_id uuid        NOT NULL,
  server  text        NOT NULL,
  form    text        NOT NULL,
  payload text        NOT NULL,
  value   uuid        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE torture.changes (
  kind    text        NOT NULL,
  key     text        NOT NULL,
  user_id uuid        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

GRANT USAGE ON SCHEMA torture TO torture_app;
GRANT INSERT ON torture.effects TO torture_app;

-- Notes every change of a completed record that has not expired, and every takeover.
CREATE FUNCTION torture.note_change() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER
AS $$
BEGIN
  IF OLD.completed IS NOT NULL AND OLD.expires > clock_timestamp() THEN
    INSERT INTO torture.changes (kind, key, user_id)
    VALUES (TG_OP, OLD.idempotency_key, OLD.user_id);
  ELSIF TG_OP = 'UPDATE' AND NEW.attempt > OLD.attempt THEN
    INSERT INTO torture.changes (kind, key, user_id)
    VALUES ('TAKEOVER', OLD.idempotency_key, OLD.user_id);
  END IF;
  RETURN NULL;
END;
$$;

CREATE TRIGGER note_change AFTER UPDATE OR DELETE ON idempotency.idempotency_keys
  FOR EACH ROW EXECUTE FUNCTION torture.note_change();

SELECT idempotency.grant_to('torture_app');
