package io.github.grpcidempotency.procedure;

import java.util.UUID;

/**
 * Tells the status of a created resource when its creation is replayed.
 *
 * <p>A store that can answer in the round trip of the claim does so (the PostgreSQL store with an
 * outbox query); every other resolver is called on the thread of the replay. Whatever is thrown
 * becomes {@link IdempotencyStatus#PROCESSING} and a logged warning. Thread-safe.
 */
@FunctionalInterface
public interface StatusResolver {
  /** Returns the status of the asynchronous work behind a resource. */
  IdempotencyStatus resolve(UUID resourceId);
}
