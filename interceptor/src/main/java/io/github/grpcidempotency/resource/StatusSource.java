package io.github.grpcidempotency.resource;

/**
 * Where the status of the asynchronous work behind a created resource comes from: a query of the
 * service's outbox, which the PostgreSQL store runs together with the statements of a replay, or
 * code of the service.
 */
public sealed interface StatusSource permits OutboxQuery, StatusResolver {}
