-- The host's own migration: two kinds of resources, an outbox under row-level security, and the application's rights.
CREATE SCHEMA shop;

CREATE TABLE shop.orders (id uuid PRIMARY KEY);
CREATE TABLE shop.invoices (id uuid PRIMARY KEY);

CREATE TABLE shop.outbox (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL,
  user_id  uuid NOT NULL,
  status   text NOT NULL
);

ALTER TABLE shop.outbox ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_entries ON shop.outbox
  FOR ALL
  USING (user_id = idempotency.current_user_id());

GRANT USAGE ON SCHEMA shop TO admin_app;
GRANT SELECT, INSERT ON shop.orders, shop.invoices, shop.outbox TO admin_app;

SELECT idempotency.add_resource_type('order', 'shop.orders');
SELECT idempotency.add_resource_type('invoice', 'shop.invoices');
SELECT idempotency.grant_to('admin_app');
