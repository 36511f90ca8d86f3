-- The three roles of the example. For a PostgreSQL of your own: run this script once as a superuser, give the roles passwords, and
-- create the database with  CREATE DATABASE example OWNER example_owner
DO $$
DECLARE
  wanted name;
BEGIN
  -- example_owner owns the database and runs the migrations; the server never serves a call as it.
  -- example_app serves calls: no superuser, no BYPASSRLS, owner of nothing.
  -- example_worker drains the outbox; a policy of its own shows it every user's rows.
  FOREACH wanted IN ARRAY ARRAY['example_owner', 'example_app', 'example_worker'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', wanted);
    END IF;
  END LOOP;
END
$$;
