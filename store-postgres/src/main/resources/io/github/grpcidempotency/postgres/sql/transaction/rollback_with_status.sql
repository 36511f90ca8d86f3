${outbox};

${rollback}
