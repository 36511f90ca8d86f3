package io.github.grpcidempotency.store;

import java.util.UUID;

/**
 * A resource, and whose operation refers to it.
 *
 * @param userId the user on whose behalf it is looked at
 * @param resourceId the resource
 */
public record OwnedResource(UUID userId, UUID resourceId) {}
