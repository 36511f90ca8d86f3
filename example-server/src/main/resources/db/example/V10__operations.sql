-- Clients list their operations, each by an index of its own user's.
SELECT idempotency.add_operation_index();
