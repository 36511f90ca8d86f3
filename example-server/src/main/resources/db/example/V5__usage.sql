-- The scheduled job writes usage statements. No constraint prevents a second statement for a period: the library does.
CREATE SCHEMA billing;

CREATE TABLE billing.usage_statements (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  since   timestamptz NOT NULL,
  until   timestamptz NOT NULL,
  users   bigint NOT NULL,
  creates bigint NOT NULL,
  created timestamptz NOT NULL DEFAULT now()
);

-- The job reads every user's outbox rows, so it runs as the worker's role, and its records belong to that role.
GRANT USAGE ON SCHEMA billing TO ${worker_role};
GRANT SELECT, INSERT ON billing.usage_statements TO ${worker_role};
SELECT idempotency.grant_to('${worker_role}');
