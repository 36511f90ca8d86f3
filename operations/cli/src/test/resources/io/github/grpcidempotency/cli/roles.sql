DO $$
DECLARE
  operator name;
BEGIN
  FOREACH operator IN ARRAY ARRAY['shop_operator', 'shop_auditor', 'orders_stranger'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = operator) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', operator);
    END IF;
  END LOOP;
END;
$$;
