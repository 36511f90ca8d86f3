CREATE TABLE shop.orders (
  id     uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  item   text NOT NULL,
  status text NOT NULL DEFAULT 'pending'
);

GRANT USAGE ON SCHEMA shop TO shop_app;
GRANT SELECT, INSERT ON shop.orders TO shop_app;

SELECT idempotency.add_resource_type('order', 'shop.orders', 'id');
SELECT idempotency.grant_to('shop_app');
