CREATE SCHEMA app;
CREATE TABLE app.orders (id uuid PRIMARY KEY);
SELECT idempotency.add_resource_type('order', 'app.orders');
SELECT idempotency.add_in_flight_index();
SELECT idempotency.grant_to('orders_app');
SELECT idempotency.grant_operator_to('shop_operator');
SELECT idempotency.grant_operator_to('shop_auditor');
SELECT idempotency.grant_contents_to('shop_auditor');
