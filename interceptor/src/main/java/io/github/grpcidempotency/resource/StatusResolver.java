package io.github.grpcidempotency.resource;

/**
 * Finds the status of a created resource when its creation is replayed.
 *
 * <p>A resolver is called on the thread of the replay, with its gRPC {@code Context}, so it may use
 * what depends on the thread or the call, such as a tenant. For {@code Operations} it is also
 * called on other threads. Once it has returned {@code COMPLETED} or {@code FAILED} for a resource,
 * it must not return {@code PROCESSING} again, even if the resource has been deleted. If it throws,
 * the status is {@link IdempotencyStatus#PROCESSING}, and a warning is logged. Thread-safe.
 */
@FunctionalInterface
public non-sealed interface StatusResolver extends StatusSource {
  /** Returns the status of the asynchronous work behind a resource. */
  IdempotencyStatus resolve(ResourceId resourceId);
}
