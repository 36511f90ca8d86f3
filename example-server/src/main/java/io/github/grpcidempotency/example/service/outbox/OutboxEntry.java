package io.github.grpcidempotency.example.service.outbox;

import io.github.grpcidempotency.procedure.ResourceType;
import java.util.UUID;

/**
 * The asynchronous work for one created resource.
 *
 * @param name the resource's name, by which {@link TupleStore} fails on demand
 */
public record OutboxEntry(ResourceType type, UUID resourceId, String name, Tuple tuple) {}
