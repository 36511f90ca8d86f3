package io.github.grpcidempotency.procedure;

import java.util.UUID;

/**
 * Finds the status of a created resource when its creation is replayed.
 *
 * <p>A resolver is called on the thread of the replay. Once it has returned {@code COMPLETED} or
 * {@code FAILED} for a resource, it must not return {@code PROCESSING} again, even if the resource
 * has been deleted. If it throws, the status is {@link IdempotencyStatus#PROCESSING}, and a warning
 * is logged. An outbox query is not called in this way: the PostgreSQL store runs it together with
 * the statements of the replay. Thread-safe.
 */
@FunctionalInterface
public interface StatusResolver {
  /** Returns the status of the asynchronous work behind a resource. */
  IdempotencyStatus resolve(UUID resourceId);

  /** Returns whether the store reads the status, so that {@link #resolve} is not called. */
  default boolean isReadByStore() {
    return false;
  }
}
