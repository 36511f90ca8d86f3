package io.github.grpcidempotency.procedure;

import java.util.UUID;

/**
 * Finds the status of a created resource when its creation is replayed.
 *
 * <p>The PostgreSQL store runs an outbox query with the statements of the replay. Every other
 * resolver is called on the thread of the replay. Once it has returned {@code COMPLETED} or {@code
 * FAILED} for a resource, it must not return {@code PROCESSING} again, not even when the resource
 * has been deleted. If it throws, the status is {@link IdempotencyStatus#PROCESSING}, and a warning
 * is logged. Thread-safe.
 */
@FunctionalInterface
public interface StatusResolver {
  /** Returns the status of the asynchronous work behind a resource. */
  IdempotencyStatus resolve(UUID resourceId);

  /** Returns whether only the store that it is made for can resolve it. */
  default boolean isReadByStore() {
    return false;
  }
}
