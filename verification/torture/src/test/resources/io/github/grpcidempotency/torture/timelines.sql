-- Where there are several time lines, the log of each node says which effects were written on its
-- own: it outlasts what a failover takes back.
CREATE FUNCTION torture.log_timeline() RETURNS trigger
  LANGUAGE plpgsql
AS $$
BEGIN
  RAISE LOG 'torture effect % on time line %',
    NEW.value, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  RETURN NULL;
END;
$$;

CREATE TRIGGER log_timeline AFTER INSERT ON torture.effects
  FOR EACH ROW EXECUTE FUNCTION torture.log_timeline();
