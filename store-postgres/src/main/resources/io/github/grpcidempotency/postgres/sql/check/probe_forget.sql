SELECT ${caller}, ${lock_timeout};

DELETE FROM "${schema}".idempotency_keys AS k WHERE ${same_key}
