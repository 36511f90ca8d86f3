package io.github.grpcidempotency.example.service.outbox;

import java.util.UUID;

/**
 * The asynchronous work for one created resource.
 *
 * @param name the resource's name; {@link OutboxWorker} fails for some names
 */
public record OutboxEntry(UUID resourceId, String name, Tuple tuple) {}
