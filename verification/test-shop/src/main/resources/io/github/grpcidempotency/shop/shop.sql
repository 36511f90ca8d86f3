-- The server's own table, after the library's schema.
CREATE SCHEMA shop;

CREATE TABLE shop.orders (
  id      uuid PRIMARY KEY,
  user_id uuid NOT NULL DEFAULT idempotency.current_user_id(),
  name    text NOT NULL
);

GRANT USAGE ON SCHEMA shop TO shop_app;
GRANT SELECT, INSERT ON shop.orders TO shop_app;
SELECT idempotency.grant_to('shop_app');
