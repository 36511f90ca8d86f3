-- The record of every keyed call. One row is a reservation while the call runs (a lease with a
-- fencing token) and its recorded answer afterwards. ${schema} is the library's own schema; to run
-- these files by hand, replace it, create it, and run them as the role that is to own the table.

CREATE TABLE ${schema}.idempotency_keys (
  id              uuid        NOT NULL,              -- UUIDv7: claims arrive in index order
  idempotency_key text        NOT NULL COLLATE "C",  -- the namespace, if any, before a colon
  user_id         uuid        NOT NULL,
  procedure       text        NOT NULL,              -- full gRPC method name
  request_hash    bytea       NOT NULL,
  hash_version    smallint    NOT NULL,
  response_bytes  bytea,                             -- the recorded response, unless it is made from the resource
  status_bytes    bytea,                             -- the recorded error; null in progress
  attempt         integer     NOT NULL DEFAULT 1,    -- the fencing token
  lease_expires   timestamptz,                       -- null for what a transaction recorded whole
  created         timestamptz NOT NULL DEFAULT now(),
  completed       timestamptz,
  expires         timestamptz NOT NULL,
  outcome_unknown boolean     NOT NULL DEFAULT false, -- its handler ended; nobody knows how
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (id),
  CONSTRAINT idempotency_keys_key UNIQUE (idempotency_key, user_id)
);

CREATE INDEX idempotency_keys_expires ON ${schema}.idempotency_keys (expires);

-- The user on whose behalf the current transaction works; null if none is set. (After a commit a
-- transaction-local setting reads '', not null.)
CREATE FUNCTION ${schema}.current_user_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN NULLIF(current_setting('app.current_user_id', true), '')::uuid;

ALTER TABLE ${schema}.idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${schema}.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON ${schema}.idempotency_keys
  FOR ALL
  USING (user_id = ${schema}.current_user_id());

-- Renewal and sweep work for all users at once. They are functions that run as the table's owner,
-- and this is all that the owner may touch: reservations and expired rows.
CREATE POLICY maintenance ON ${schema}.idempotency_keys
  FOR ALL TO CURRENT_USER
  USING (completed IS NULL OR expires <= now());

-- Where servers leave word that they wait for the end of an operation that another server runs, so
-- that it need not notify when nobody listens. Holds hashes only; a crash may empty it.
CREATE UNLOGGED TABLE ${schema}.idempotency_waits (
  lock_id bigint      NOT NULL PRIMARY KEY,
  created timestamptz NOT NULL DEFAULT now()
);
