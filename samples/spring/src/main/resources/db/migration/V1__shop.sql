-- The shop's own tables, migrated as shop_owner after the library's schema.
CREATE TABLE shop.orders (
  id      uuid PRIMARY KEY,
  user_id uuid NOT NULL DEFAULT idempotency.current_user_id(), -- whose key it is
  item    text NOT NULL,
  shipped boolean NOT NULL DEFAULT false
);

CREATE TABLE shop.outbox (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders,
  status   text NOT NULL DEFAULT 'pending'
);

-- For the query that finds an order's status.
CREATE INDEX ON shop.outbox (order_id, id DESC);

CREATE TABLE shop.shipments (
  id       uuid PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders
);

CREATE TABLE shop.payments (
  id       uuid PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders,
  cents    integer NOT NULL,
  charge   text NOT NULL
);

GRANT USAGE ON SCHEMA shop TO shop_app;
GRANT SELECT, INSERT ON shop.orders, shop.outbox, shop.shipments, shop.payments TO shop_app;
GRANT UPDATE (shipped) ON shop.orders TO shop_app;

-- What a record may refer to, and which role serves calls.
SELECT idempotency.add_resource_type('order', 'shop.orders', 'id');
SELECT idempotency.add_resource_type('shipment', 'shop.shipments', 'id');
SELECT idempotency.add_resource_type('payment', 'shop.payments', 'id');
SELECT idempotency.grant_to('shop_app');
