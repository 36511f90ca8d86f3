-- The three roles of the example, for a PostgreSQL of one's own: run this once as a superuser, give the
-- roles passwords, and create the database with  CREATE DATABASE example OWNER example_owner.
-- The embedded PostgreSQL runs it at every start. Running it again changes nothing.
DO $$
DECLARE
  wanted name;
BEGIN
  -- example_owner owns the database and runs the migrations; the server never serves a call as it.
  -- example_app serves calls: no superuser, no BYPASSRLS, owner of nothing.
  -- example_worker drains the outbox, of which one policy lets it see every user's rows.
  FOREACH wanted IN ARRAY ARRAY['example_owner', 'example_app', 'example_worker'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', wanted);
    END IF;
  END LOOP;
END
$$;
