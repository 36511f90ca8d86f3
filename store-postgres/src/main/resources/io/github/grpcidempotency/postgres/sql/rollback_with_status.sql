SELECT ${status} AS outbox_status;

ROLLBACK
