-- Operators and metrics watch what is in flight.
SELECT idempotency.add_in_flight_index();

-- Operators look at keys, and free or forget them, as a role of their own. A database of one's own may do without it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${operator_role}') THEN
    PERFORM idempotency.grant_operator_to('${operator_role}');
  END IF;
END;
$$;
