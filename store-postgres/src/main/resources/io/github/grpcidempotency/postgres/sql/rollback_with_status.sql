${outbox};

ROLLBACK
