-- What the scheduled job writes. On purpose, nothing here stops a second statement for a period: that there is none is the
-- library's doing.
CREATE SCHEMA billing;

CREATE TABLE billing.usage_statements (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  since   timestamptz NOT NULL,
  until   timestamptz NOT NULL,
  users   bigint NOT NULL,
  creates bigint NOT NULL,
  created timestamptz NOT NULL DEFAULT now()
);

-- The job looks at every user's outbox, so it runs as the worker, and its records are the worker's.
GRANT USAGE ON SCHEMA billing TO ${worker_role};
GRANT SELECT, INSERT ON billing.usage_statements TO ${worker_role};
SELECT idempotency.grant_to('${worker_role}');
