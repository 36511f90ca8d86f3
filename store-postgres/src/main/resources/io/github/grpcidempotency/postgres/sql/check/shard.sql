-- The shard's name; no row if the database contains none.
SELECT f.value FROM ${schema}.idempotency_facts AS f WHERE f.name = 'shard'
