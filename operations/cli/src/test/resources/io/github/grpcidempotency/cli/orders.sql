CREATE SCHEMA app;
CREATE TABLE app.orders (id uuid PRIMARY KEY);
CREATE TABLE app.outbox (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL,
  user_id  uuid NOT NULL,
  status   text NOT NULL
);
ALTER TABLE app.outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON app.outbox USING (user_id = current_setting('app.current_user_id')::uuid);
GRANT USAGE ON SCHEMA app TO shop_operator;
GRANT SELECT ON app.outbox TO shop_operator;
SELECT idempotency.add_resource_type('order', 'app.orders');
SELECT idempotency.add_in_flight_index();
SELECT idempotency.grant_to('orders_app');
SELECT idempotency.grant_operator_to('shop_operator');
SELECT idempotency.grant_operator_to('shop_auditor');
SELECT idempotency.grant_contents_to('shop_auditor');
