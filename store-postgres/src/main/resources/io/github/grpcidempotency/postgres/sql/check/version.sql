-- The number of the last migration.
SELECT f.value::integer FROM ${schema}.idempotency_facts AS f WHERE f.name = 'version'
