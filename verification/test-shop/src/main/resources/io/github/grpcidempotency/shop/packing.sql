-- What has still to be done for an order of the shop.
CREATE TABLE shop.outbox (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders (id),
  state    text NOT NULL DEFAULT 'pending'
);

CREATE INDEX ON shop.outbox (order_id, id DESC);

GRANT SELECT, INSERT ON shop.outbox TO shop_app;
SELECT idempotency.add_resource_type('order', 'shop.orders', 'id');
