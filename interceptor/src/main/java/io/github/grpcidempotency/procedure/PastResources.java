package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.resource.ResourceId;

/**
 * Finds out whether a resource once existed, for example by tombstones, soft-deleted rows or an
 * outbox. Called when the handler of a delete ends with {@code NOT_FOUND}. If the resource once
 * existed, the reason {@code IDEMPOTENCY_RESOURCE_GONE} is added to the error. Thread-safe.
 *
 * <p>Called only for calls that run protected by a key, in the gRPC {@code Context} of the handler,
 * whose transaction is still open. It may block as a handler may. An exception is logged, and the
 * handler's error is sent unchanged.
 */
@FunctionalInterface
public interface PastResources {
  /**
   * Returns whether the resource once existed and this caller is allowed to know that.
   *
   * @param resourceId the id in the request; a client may send any text
   */
  boolean existed(Caller caller, ResourceId resourceId);
}
