-- The host's own migration: two kinds of resources, and the application's rights.
CREATE SCHEMA shop;

CREATE TABLE shop.orders (id uuid PRIMARY KEY);
CREATE TABLE shop.invoices (id uuid PRIMARY KEY);

GRANT USAGE ON SCHEMA shop TO admin_app;
GRANT SELECT, INSERT ON shop.orders, shop.invoices TO admin_app;

SELECT idempotency.add_resource_type('order', 'shop.orders');
SELECT idempotency.add_resource_type('invoice', 'shop.invoices');
SELECT idempotency.grant_to('admin_app');
