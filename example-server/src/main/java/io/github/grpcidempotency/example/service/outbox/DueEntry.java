package io.github.grpcidempotency.example.service.outbox;

import java.util.UUID;

/**
 * An entry that the worker holds locked.
 *
 * @param attempt which attempt this is, from 1 on
 */
record DueEntry(long id, UUID userId, String resourceName, int attempt, Tuple tuple) {}
