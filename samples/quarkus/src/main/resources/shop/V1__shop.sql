CREATE TABLE shop.orders (
  id      uuid PRIMARY KEY,
  user_id uuid NOT NULL DEFAULT idempotency.current_user_id(), -- whose key it is
  item    text NOT NULL
);

CREATE TABLE shop.shipments (
  id       uuid PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders,
  tracking text NOT NULL
);

GRANT USAGE ON SCHEMA shop TO shop_app;
GRANT SELECT, INSERT ON shop.orders, shop.shipments TO shop_app;

SELECT idempotency.add_resource_type('order', 'shop.orders', 'id');
SELECT idempotency.add_resource_type('shipment', 'shop.shipments', 'id');
SELECT idempotency.grant_to('shop_app');
