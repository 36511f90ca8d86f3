-- The intents of a client service, in its own database: calls that the service has decided to make and that have no answer yet.
-- Run this file once, with Flyway or by hand, as the role that owns the service's tables. Grant these rights to the service's role
-- in a migration of the service:
--
--   GRANT USAGE ON SCHEMA idempotency_client TO my_app;
--   GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_client.intents TO my_app;
CREATE SCHEMA IF NOT EXISTS idempotency_client;

CREATE TABLE idempotency_client.intents (
  key        text COLLATE "C" PRIMARY KEY, -- the idempotency key, the same in every attempt
  target     text        NOT NULL,         -- the service's name for the server
  method     text        NOT NULL,         -- package.Service/Method
  request    bytea       NOT NULL,
  created    timestamptz NOT NULL DEFAULT now(), -- the intent is sent until giveUpAfter has passed since this time
  due        timestamptz NOT NULL DEFAULT now(), -- when a worker may take the intent; while a worker processes it, the end of the lease
  attempts   int         NOT NULL DEFAULT 0,     -- how often the intent was taken
  fence      bigint      NOT NULL DEFAULT 0,     -- changes when the intent is taken or given back; a worker with an older fence has lost the intent
  sent       int         NOT NULL DEFAULT 0,     -- how many attempts may have left the process; 0 if it is certain that none did
  answer     bytea                               -- the answer, until the callback has accepted it
);

COMMENT ON TABLE idempotency_client.intents IS 'Calls that are made until they have an answer. A row is deleted when the callback has accepted its answer.';

CREATE INDEX intents_due ON idempotency_client.intents (target, due);
