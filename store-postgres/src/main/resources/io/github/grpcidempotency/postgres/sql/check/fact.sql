SELECT ${lock_timeout};

SELECT f.value FROM "${schema}".idempotency_facts AS f WHERE f.name = :name
