-- What a client service decides, and what it makes of the answers.
CREATE SCHEMA buyer;

CREATE TABLE buyer.decisions (
  name text PRIMARY KEY
);

CREATE TABLE buyer.answers (
  key      text NOT NULL,
  order_id text NOT NULL
);

GRANT USAGE ON SCHEMA buyer, idempotency_client TO buyer_app;
GRANT SELECT, INSERT ON buyer.decisions, buyer.answers TO buyer_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_client.intents TO buyer_app;
