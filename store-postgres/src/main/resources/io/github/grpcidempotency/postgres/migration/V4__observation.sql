-- What operators ask of a record: who holds the reservation, and which run made the answer. Servers of the previous version,
-- which know neither, work on. Both columns are nullable, so that nothing is rewritten, and nothing is checked here: the store
-- bounds their lengths, and a constraint would cost every call a little.
ALTER TABLE ${schema}.idempotency_keys
  ADD COLUMN server text,  -- who holds or held the reservation; null for what a transaction recorded whole
  ADD COLUMN trace  bytea; -- the trace of the run that made the answer, or is about to; opaque to the store

-- Lets operators find what is in flight, and metrics count it, without reading what is not. Call it if the service is watched so: the
-- index is as small as the number of calls that run, but costs each reserved call 80 bytes of WAL, and 350 if its procedure has no resource
-- type: there, a completion was HOT before.
CREATE FUNCTION ${schema}.add_in_flight_index()
  RETURNS void
  LANGUAGE sql
AS $$
  CREATE INDEX IF NOT EXISTS idempotency_keys_in_flight ON ${schema}.idempotency_keys (id) WHERE completed IS NULL;
$$;

REVOKE ALL ON FUNCTION ${schema}.add_in_flight_index() FROM PUBLIC;
