-- A migration of a version that does not exist, with what migrations of a live table do: a new column, a new index and a function that
-- is replaced. Servers of the previous version must go on working.
ALTER TABLE ${schema}.idempotency_keys ADD COLUMN made_up text;

CREATE INDEX idempotency_keys_made_up ON ${schema}.idempotency_keys (made_up) WHERE made_up IS NOT NULL;

CREATE OR REPLACE FUNCTION ${schema}.refuse_commit(code text) RETURNS void
  LANGUAGE plpgsql VOLATILE
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'this transaction may not be committed, says a migration that was made up'
    USING ERRCODE = code;
END;
$$;

UPDATE ${schema}.idempotency_facts SET value = '4' WHERE name = 'version';
