-- Migrated by shop_owner after the library's schema. Flyway has created the schema shop.
CREATE TABLE shop.orders (
  id      uuid PRIMARY KEY,
  user_id uuid NOT NULL DEFAULT idempotency.current_user_id(),
  item    text NOT NULL
);

CREATE TABLE shop.notes (
  number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  note    text NOT NULL
);

CREATE TABLE shop.shipments (
  id       uuid PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES shop.orders,
  tracking text NOT NULL
);

GRANT USAGE ON SCHEMA shop TO shop_app;
GRANT SELECT, INSERT ON shop.orders, shop.notes, shop.shipments TO shop_app;

SELECT idempotency.add_resource_type('order', 'shop.orders', 'id');
SELECT idempotency.add_resource_type('shipment', 'shop.shipments', 'id');
SELECT idempotency.grant_to('shop_app');
