SELECT to_regclass(quote_ident(:schema) || '.idempotency_keys') IS NOT NULL AS table_exists,
       to_regclass(quote_ident(:schema) || '.flyway_schema_history') IS NOT NULL AS has_history,
       to_regclass(quote_ident(:schema) || '.idempotency_facts') IS NOT NULL AS has_facts,
       (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) AS is_superuser
