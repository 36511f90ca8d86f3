-- What a flush calls to end itself with an error, so that the statements after it do not run. Their messages say nothing of
-- anybody; the codes say why. They are for everybody, so that they need no grant: all that they can do is fail. Servers of the
-- previous version do not know them.

-- Keeps a handler's first statement from running: somebody has the key, or a row stands under it, or nothing can be written.
CREATE FUNCTION ${schema}.refuse_claim() RETURNS integer
  LANGUAGE plpgsql VOLATILE -- or else the planner calls it
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'the key is not free'
    USING ERRCODE = 'IK001', HINT = 'This is no fault: a duplicate was stopped before its first statement.';
END;
$$;

-- Keeps a transaction from being committed.
CREATE FUNCTION ${schema}.refuse_commit(code text) RETURNS void
  LANGUAGE plpgsql VOLATILE
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'this transaction may not be committed with the record of its call'
    USING ERRCODE = code;
END;
$$;

-- A database may have been set to give new functions to nobody.
GRANT EXECUTE ON FUNCTION ${schema}.refuse_claim() TO PUBLIC;
GRANT EXECUTE ON FUNCTION ${schema}.refuse_commit(text) TO PUBLIC;
