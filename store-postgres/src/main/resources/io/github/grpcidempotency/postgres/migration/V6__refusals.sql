-- What a flush calls to end itself with an error, so that the statements after it do not run.

-- Keeps a transaction from being committed. Its message says nothing of anybody; the code says why.
CREATE FUNCTION ${schema}.refuse_commit(code text) RETURNS void
  LANGUAGE plpgsql VOLATILE
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'this transaction may not be committed with the record of its call'
    USING ERRCODE = code;
END;
$$;
