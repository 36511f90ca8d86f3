package io.github.grpcidempotency.store;

import io.github.grpcidempotency.procedure.ResourceId;
import java.util.UUID;

/**
 * A resource, and the user whose operation refers to it.
 *
 * @param userId the user on whose behalf the resource is read
 */
public record OwnedResource(UUID userId, ResourceId resourceId) {}
