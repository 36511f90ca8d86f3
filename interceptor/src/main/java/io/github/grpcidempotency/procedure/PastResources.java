package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.Caller;
import java.util.UUID;

/**
 * Knows resources that are gone, by tombstones, soft-deleted rows or an outbox, for instance.
 * Called when the handler of a delete ends with {@code NOT_FOUND}. If the resource existed, the
 * error also says {@code IDEMPOTENCY_RESOURCE_GONE}. Thread-safe.
 *
 * <p>Called only for calls that run protected by a key. It runs in the gRPC {@code Context} of the
 * handler, whose transaction is still open, and may block as a handler may. If it throws, that is
 * logged and the handler's error is sent unchanged.
 */
@FunctionalInterface
public interface PastResources {
  /**
   * Returns whether the resource existed, and this caller may know.
   *
   * @param caller the caller of the delete
   * @param resourceId what the request names
   */
  boolean existed(Caller caller, UUID resourceId);
}
