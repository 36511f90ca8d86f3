-- The tables of the samples, migrated by shop_owner after those of the library. Flyway has created the schema shop.
CREATE TABLE shop.orders (
  id   uuid PRIMARY KEY,
  item text NOT NULL
);

CREATE TABLE shop.outbox (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders,
  status   text NOT NULL DEFAULT 'pending'
);

CREATE INDEX ON shop.outbox (order_id, id DESC);

CREATE TABLE shop.shipments (
  tracking text PRIMARY KEY,
  item     text NOT NULL
);

CREATE TABLE shop.tokens (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  revoked boolean NOT NULL DEFAULT false
);

CREATE TABLE shop.invitations (
  email text PRIMARY KEY,
  role  text NOT NULL
);

-- No constraint prevents a second row for an event: the library does.
CREATE TABLE shop.events (
  id   text NOT NULL,
  body bytea NOT NULL
);

-- The decisions of a client service.
CREATE TABLE shop.purchases (
  intent  text PRIMARY KEY,
  outcome text NOT NULL
);

GRANT USAGE ON SCHEMA shop, idempotency_client TO shop_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO shop_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_client.intents TO shop_app;

-- The tables that a record may refer to, and the role that serves calls.
SELECT idempotency.add_resource_type('order', 'shop.orders', 'id');
SELECT idempotency.add_resource_type('token', 'shop.tokens', 'id');
SELECT idempotency.add_operation_index();
SELECT idempotency.grant_to('shop_app');
