CREATE ROLE shop_operator LOGIN;
SELECT idempotency.grant_operator_to('shop_operator');
