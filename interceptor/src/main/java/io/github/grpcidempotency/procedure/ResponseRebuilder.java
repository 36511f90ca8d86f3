package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.resource.ResourceId;
import java.util.Optional;

/**
 * Rebuilds a response from its resource, for answers that are too large to record, or that should
 * show the current state. Thread-safe.
 *
 * <p>Called on the thread of the replay, with the gRPC {@code Context} of the call; it may read a
 * database.
 */
@FunctionalInterface
public interface ResponseRebuilder {
  /**
   * Returns the response for the current state of the resource; empty if the resource does not
   * exist any more.
   *
   * <p>If it throws, the client gets {@code UNAVAILABLE} and may retry, and the record stays. The
   * cause in the error is that of a {@link io.github.grpcidempotency.store.StoreException},
   * otherwise {@code other}.
   */
  Optional<? extends Message> rebuild(Caller caller, ResourceId resourceId);
}
