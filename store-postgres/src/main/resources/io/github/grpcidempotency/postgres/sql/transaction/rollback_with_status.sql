${set}${outbox};

${rollback}
