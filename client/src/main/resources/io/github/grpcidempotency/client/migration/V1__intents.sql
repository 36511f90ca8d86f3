-- Intents of a client service, in its own database: what it has decided to have done elsewhere, and has no answer to yet. To be run
-- once, by Flyway or by hand, as the role that owns the service's tables. The service's role needs, from its own migration:
--
--   GRANT USAGE ON SCHEMA idempotency_client TO my_app;
--   GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_client.intents TO my_app;
CREATE SCHEMA IF NOT EXISTS idempotency_client;

CREATE TABLE idempotency_client.intents (
  key        text COLLATE "C" PRIMARY KEY, -- what is sent to the server, the same in every attempt
  target     text        NOT NULL,         -- the server, as the service calls it
  method     text        NOT NULL,         -- package.Service/Method
  request    bytea       NOT NULL,
  created    timestamptz NOT NULL DEFAULT now(), -- it is not sent for longer than giveUpAfter from here
  due        timestamptz NOT NULL DEFAULT now(), -- when a worker may take it; while one works on it, the end of its lease
  attempts   int         NOT NULL DEFAULT 0,     -- how often it was taken
  fence      bigint      NOT NULL DEFAULT 0,     -- changes whenever it is taken: who has an older one has lost it
  sent       int         NOT NULL DEFAULT 0,     -- how many attempts may have left the process; 0 if certainly none has
  answer     bytea                               -- what was answered, until it is handed on
);

COMMENT ON TABLE idempotency_client.intents IS 'Calls to be made until they have an answer; a row is deleted when its answer was handed on.';

CREATE INDEX intents_due ON idempotency_client.intents (due);
